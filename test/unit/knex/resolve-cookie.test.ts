import { describe, expect, it } from '@jest/globals';
import { OptionReader } from '../../../lib/config/option-reader.ts';
import { resolveCookie } from '../../../lib/knex/resolve-cookie.ts';
import type { CookieSettings } from '../../../lib/knex/token-carrier.ts';

function resolve(cookie: object): CookieSettings {
  return resolveCookie(new OptionReader(cookie, 'cookie'));
}

describe('resolveCookie', () => {
  it('completes a name', () => {
    expect(resolve({ name: 'position' })).toEqual({
      name: 'position',
      maxAgeMillis: 300_000,
      path: '/',
      domain: undefined,
      secure: true,
      sameSite: 'lax',
    });
  });

  it.each([
    { name: '__Host-p' },
    { name: '__Host-p', path: '/', sameSite: 'none' },
    { name: '__Secure-p', domain: 'example.org', path: '/app' },
    { name: '__Http-p', path: '/app' },
    { name: 'Host-p', domain: 'example.org', secure: false },
    { name: 'p', sameSite: 'none' },
  ])('takes what browsers keep: %o', (cookie) => {
    expect(resolve(cookie)).toMatchObject(cookie);
  });

  it.each<[object, string, RegExp]>([
    [{ name: '__Host-p', domain: 'example.org' }, 'domain', /leave "domain" out/],
    [{ name: '__Host-p', path: '/app' }, 'path', /leave "path" out/],
    [{ name: '__Host-p', secure: false }, 'secure', /leave "secure" out/],
    [{ name: '__host-p', secure: false }, 'secure', /leave "secure" out/],
    [{ name: '__Secure-p', secure: false }, 'secure', /leave "secure" out/],
    [{ name: '__Http-p', secure: false }, 'secure', /leave "secure" out/],
    [{ name: 'p', sameSite: 'none', secure: false }, 'sameSite', /leave "secure" out/],
  ])('refuses what browsers drop, and says what to do: %o', (cookie, key, advice) => {
    const resolving = (): unknown => resolve(cookie);

    expect(resolving).toThrow(expect.objectContaining({ path: `cookie.${key}` }));
    expect(resolving).toThrow(advice);
  });
});

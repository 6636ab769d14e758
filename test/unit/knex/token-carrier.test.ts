import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import {
  cookieCarrier,
  headerCarrier,
  type CookieSettings,
} from '../../../lib/knex/token-carrier.ts';

const token = '1.c.1-30e01b0..IWEtuAjS.mjuohs00.W5t55ORmzEz7dwr_D5uSn0mm';
const settings: CookieSettings = {
  name: 'position',
  maxAgeMillis: 60_000,
  path: '/',
  domain: undefined,
  secure: true,
  sameSite: 'lax',
};

function request(headers: IncomingMessage['headers']): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { headers });
}

function response(): ServerResponse {
  return new ServerResponse(request({}));
}

describe('cookieCarrier', () => {
  it.each<[string, string | undefined, string | undefined]>([
    ['alone', `position=${token}`, token],
    ['among others', `theme=dark; position=${token}; position2=x`, token],
    ['not', 'theme=dark', undefined],
    ['no cookie at all', undefined, undefined],
  ])('takes the token of a request that brings it: %s', (_, cookie, expected) => {
    const { take } = cookieCarrier(settings);

    expect(take(request(cookie === undefined ? {} : { cookie }))).toBe(expected);
  });

  it.each<[string, Partial<CookieSettings>, string]>([
    ['as it is by default', {}, 'Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax'],
    [
      'for a part of a second',
      { maxAgeMillis: 1 },
      'Max-Age=1; Path=/; HttpOnly; Secure; SameSite=Lax',
    ],
    ['over plain HTTP', { secure: false }, 'Max-Age=60; Path=/; HttpOnly; SameSite=Lax'],
    [
      'for subdomains',
      { domain: 'example.org', path: '/app', sameSite: 'none' },
      'Max-Age=60; Domain=example.org; Path=/app; HttpOnly; Secure; SameSite=None',
    ],
  ])('gives a cookie that no script can read: %s', (_, more, attributes) => {
    const to = response();

    cookieCarrier({ ...settings, ...more }).give(to, token);

    expect(to.getHeader('set-cookie')).toEqual([`position=${token}; ${attributes}`]);
  });

  it.each<[string, string | readonly string[], readonly string[]]>([
    ['one', 'theme=dark', ['theme=dark']],
    ['several', ['theme=dark', 'id=1'], ['theme=dark', 'id=1']],
  ])("keeps the application's own cookies: %s", (_, own, kept) => {
    const to = response().setHeader('Set-Cookie', own);

    cookieCarrier(settings).give(to, token);

    expect(to.getHeader('set-cookie')).toEqual([...kept, expect.stringMatching(/^position=/)]);
  });
});

describe('headerCarrier', () => {
  it('takes and gives the token in a header, however it is spelt', () => {
    const { take, give } = headerCarrier('X-Position');
    const to = response();

    give(to, token);

    expect(to.getHeader('x-position')).toBe(token);
    expect(take(request({ 'x-position': token }))).toBe(token);
    expect(take(request({}))).toBeUndefined();
  });
});

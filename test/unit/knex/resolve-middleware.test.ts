import { describe, expect, it } from '@jest/globals';
import { resolveMiddleware } from '../../../lib/knex/resolve-middleware.ts';
import { resolveConfig } from '../../../lib/config/resolve-config.ts';
import type { RWSplitSettings } from '../../../lib/config/settings.ts';
import type { RWSplitOptions } from '../../../lib/config/options.ts';
import { ConfigError } from '../../../lib/errors.ts';

function client(rwSplit: RWSplitOptions): RWSplitSettings {
  const { settings } = resolveConfig({
    connection: { host: 'h1' },
    rwSplit: { replicas: [], ...rwSplit },
  });
  if (settings === undefined) throw new Error('Nothing splits.');
  return settings;
}

const unsigned = client({});
const signed = client({ consistency: { token: { secret: 'client-secret' } } });

function refusal(options: unknown): { path: string; message: string } {
  try {
    resolveMiddleware(options, unsigned);
  } catch (error) {
    if (error instanceof ConfigError) return { path: error.path, message: error.message };
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('resolveMiddleware', () => {
  it.each<[string, object, RWSplitSettings, readonly string[]]>([
    ['its own', { secret: 'own' }, signed, ['own']],
    ['all of its own', { secret: ['new', 'old'] }, signed, ['new', 'old']],
    ["the client's, where it has none", {}, signed, ['client-secret']],
  ])('signs with a secret: %s', (_, options, settings, secrets) => {
    expect(resolveMiddleware({ cookie: 'position', ...options }, settings)).toMatchObject({
      secrets,
    });
  });

  it.each<[string, object, number]>([
    ['five minutes, in a cookie', { cookie: 'position' }, 300_000],
    ['as long as the cookie lives', { cookie: { name: 'p', maxAgeMillis: 1000 } }, 1000],
    ['as long as the client says, in a header', { header: 'x-position' }, 3_600_000],
  ])('believes a token for %s', (_, options, maxAgeMillis) => {
    expect(resolveMiddleware(options, signed)).toMatchObject({ maxAgeMillis });
  });

  it('leaves to the client how sessions read, but for tokens that no server knows', () => {
    const { manners } = resolveMiddleware({ cookie: 'position' }, signed);

    expect(manners).toEqual({
      consistency: undefined,
      waitMillis: undefined,
      monotonic: undefined,
      isStrict: false,
    });
  });

  it('takes over how sessions read', () => {
    const options = { consistency: 'strong', waitMillis: 10, monotonic: true };

    const { manners } = resolveMiddleware({ header: 'x-position', ...options }, signed);

    expect(manners).toMatchObject(options);
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'cookie'],
    ['no place for tokens', { secret: 's' }, 'cookie'],
    ['two places for tokens', { secret: 's', cookie: 'p', header: 'p' }, 'cookie'],
    ['no secret', { cookie: 'p' }, 'secret'],
    ['an empty secret', { cookie: 'p', secret: '' }, 'secret'],
    ['an empty list of secrets', { cookie: 'p', secret: [] }, 'secret'],
    ['a misspelt option', { cookie: 'p', secrets: 's', secret: 's' }, 'secrets'],
    ['a mode that is none', { cookie: 'p', secret: 's', consistency: 'weak' }, 'consistency'],
    ['a negative wait', { cookie: 'p', secret: 's', waitMillis: -1 }, 'waitMillis'],
    ['a word for a boolean', { cookie: 'p', secret: 's', monotonic: 'yes' }, 'monotonic'],
    ['a header with a blank', { header: 'x position', secret: 's' }, 'header'],
    ['a cookie without a name', { cookie: {}, secret: 's' }, 'cookie.name'],
    ['a cookie with an empty name', { cookie: '', secret: 's' }, 'cookie.name'],
    ['a cookie named "a;b"', { cookie: 'a;b', secret: 's' }, 'cookie.name'],
    ['a path with a semicolon', { cookie: { name: 'p', path: '/;' }, secret: 's' }, 'cookie.path'],
    ['a relative path', { cookie: { name: 'p', path: 'app' }, secret: 's' }, 'cookie.path'],
    [
      'a domain with a blank',
      { cookie: { name: 'p', domain: 'a b' }, secret: 's' },
      'cookie.domain',
    ],
    ['an age of 0', { cookie: { name: 'p', maxAgeMillis: 0 }, secret: 's' }, 'cookie.maxAgeMillis'],
    ['a misspelt attribute', { cookie: { name: 'p', maxAge: 5 }, secret: 's' }, 'cookie.maxAge'],
    [
      'what browsers refuse',
      { cookie: { name: 'p', sameSite: 'none', secure: false }, secret: 's' },
      'cookie.sameSite',
    ],
  ])('refuses %s, and says where it stands', (_, options, path) => {
    expect(refusal(options)).toEqual({
      path: `sessionMiddleware.${path}`,
      message: expect.stringContaining(`sessionMiddleware.${path}`),
    });
  });

  it.each<[object, string]>([
    [{ cookie: 'p', secret: 's', monotone: true }, 'monotonic'],
    [{ kookie: 'p', secret: 's' }, 'cookie'],
    [{ cookie: { name: 'p', maxAge: 5 }, secret: 's' }, 'maxAgeMillis'],
  ])('names the nearest option of one that is none: %o', (options, nearest) => {
    expect(refusal(options).message).toMatch(new RegExp(`nearest known one is "${nearest}"`));
  });

  it.each([
    'Set-Cookie',
    'cookie',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'keep-alive',
    'TE',
    'upgrade',
    'host',
    'authorization',
    'proxy-authorization',
    'Sec-Position',
    'access-control-allow-origin',
  ])('refuses the header %s, which is not free to carry a token', (header) => {
    expect(refusal({ header, secret: 's' })).toEqual({
      path: 'sessionMiddleware.header',
      message: expect.stringMatching(/it must be .* such as "x-position"/),
    });
  });

  it.each(['x-position', 'X-Secret', 'position', 'hostess', 'te-position'])(
    'takes the header %s',
    (header) => {
      expect(() => resolveMiddleware({ header }, signed)).not.toThrow();
    },
  );

  it("refuses a mode that is not possible with the client's target", () => {
    const settings = client({ target: 'any' });

    expect(() =>
      resolveMiddleware({ cookie: 'p', secret: 's', consistency: 'session' }, settings),
    ).toThrow(ConfigError);
  });

  it.each<[string, unknown]>([
    ['in a list', { cookie: 'p', secret: ['hush', 1] }],
    ['in an object', { cookie: 'p', secret: { key: 'hush' } }],
    ['that is a number', { cookie: 'p', secret: 12_345 }],
    ['in place of the options', 'hush'],
  ])('repeats no secret %s', (_, options) => {
    expect(refusal(options).message).not.toMatch(/hush|12345/);
  });
});

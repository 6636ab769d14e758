import { invalidOption } from '../config/invalid-option.ts';
import { periodMillis } from '../config/number-range.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { ConfigError } from '../errors.ts';
import type { CookieSettings } from './token-carrier.ts';

// RFC 9110: what names of headers and cookies are made of.
const namePattern = /^[\w!#$%&'*+.^`|~-]+$/;
const pathPattern = /^\/[ -:=-~]*$/;
const domainPattern = /^\.?[a-z0-9-]+(\.[a-z0-9-]+)*$/i;

// Five times the lag at which a replica serves no longer, where `maxLag` isn't set.
const usualMillis = 300_000;

/**
 * Completes the options of a cookie.
 *
 * @throws {ConfigError} when one is not allowed, or browsers would refuse the cookie.
 */
export function resolveCookie(reader: OptionReader): CookieSettings {
  const cookie = {
    name: readName(reader, 'name'),
    maxAgeMillis: reader.number('maxAgeMillis', usualMillis, periodMillis),
    path: readText(reader, 'path', pathPattern, 'a path such as "/"') ?? '/',
    domain: readText(reader, 'domain', domainPattern, 'a domain such as "example.org"'),
    secure: reader.boolean('secure', true),
    sameSite: reader.choice('sameSite', 'lax', ['lax', 'strict', 'none']),
  };
  reader.finish();
  assertKept(reader, cookie);
  return cookie;
}

// RFC 6265bis: cookie name prefixes, and "SameSite" without "Secure".
function assertKept(
  reader: OptionReader,
  { name, path, domain, secure, sameSite }: CookieSettings,
): void {
  const [prefix] = /^__(?:host|http|secure)-/i.exec(name) ?? [];
  const isOfHost = prefix?.toLowerCase() === '__host-';
  if (isOfHost && domain !== undefined) throw dropped(reader, 'domain', prefix);
  if (isOfHost && path !== '/') throw dropped(reader, 'path', prefix);
  if (prefix !== undefined && !secure) throw dropped(reader, 'secure', prefix);
  if (sameSite !== 'none' || secure) return;

  const at = reader.pathOf('sameSite');
  throw new ConfigError(
    at,
    `${at} is "none", and browsers drop such a cookie where "secure" is false: leave "secure" out, or take another "sameSite".`,
  );
}

function dropped(reader: OptionReader, key: string, prefix: string | undefined): ConfigError {
  const at = reader.pathOf(key);
  return new ConfigError(
    at,
    `${at} is given, and with it browsers drop a cookie of the name "${prefix}…": leave "${key}" out, or take another name.`,
  );
}

/**
 * Reads the name of a cookie or header.
 *
 * @throws {ConfigError} when there is none, or it can't be one.
 */
export function readName(reader: OptionReader, key: string): string {
  const name = readText(reader, key, namePattern, 'a name without blanks and separators');
  if (name !== undefined) return name;
  throw invalidOption(reader.pathOf(key), name, 'a non-empty string');
}

function readText(
  reader: OptionReader,
  key: string,
  pattern: RegExp,
  allowed: string,
): string | undefined {
  const text = reader.text(key);
  if (text === undefined || pattern.test(text)) return text;
  throw invalidOption(reader.pathOf(key), text, allowed);
}

import { OptionReader } from '../config/option-reader.ts';
import { readSecrets } from '../config/read-secrets.ts';
import type { RoutingSettings } from '../config/settings.ts';
import { ConfigError } from '../errors.ts';
import { readHeader } from './read-header.ts';
import { readManners } from './read-manners.ts';
import { resolveCookie } from './resolve-cookie.ts';
import type { SessionManners } from './session-scope.ts';
import { cookieCarrier, headerCarrier, type TokenCarrier } from './token-carrier.ts';

/** Everything that `SessionMiddlewareOptions` leave to choose, complete and validated. */
export interface MiddlewareSettings {
  readonly carrier: TokenCarrier;
  /** At least one. */
  readonly secrets: readonly string[];
  readonly maxAgeMillis: number;
  /** What is undefined is as the client says. */
  readonly manners: SessionManners;
}

/**
 * Completes the options of `sessionMiddleware`.
 *
 * @throws {ConfigError} when one is not allowed, or none says where the token is or who signs it.
 */
export function resolveMiddleware(
  options: unknown,
  { consistency: { token }, target }: Pick<RoutingSettings, 'consistency' | 'target'>,
): MiddlewareSettings {
  const reader = new OptionReader(options, 'sessionMiddleware');
  const [path, value] = [reader.pathOf('secret'), reader.read('secret')];
  const secrets = value === undefined ? token.secrets : readSecrets(value, path);
  const manners = readManners(reader, target);
  const place = { cookie: reader.read('cookie'), header: reader.read('header') };
  // Before one is missed: it may be there, misspelt.
  reader.finish();
  const carrier = readCarrier(reader, place, token.maxAgeMillis);
  if (secrets.length > 0) {
    // A client may bring a cookie of a cluster that was restored since: that is no error of its.
    return { ...carrier, secrets, manners: { ...manners, isStrict: false } };
  }

  throw new ConfigError(
    path,
    `${path} is not given, nor is the client's consistency.token.secret: without one, whoever sends requests could write tokens. It must be a long random string, or a list of them.`,
  );
}

function readCarrier(
  reader: OptionReader,
  { cookie, header }: Readonly<Record<'cookie' | 'header', unknown>>,
  usualMillis: number,
): Pick<MiddlewareSettings, 'carrier' | 'maxAgeMillis'> {
  if ((cookie === undefined) === (header === undefined)) {
    const path = reader.pathOf('cookie');
    const given = cookie === undefined ? 'neither is' : 'both are';
    throw new ConfigError(
      path,
      `${path} or ${reader.pathOf('header')} says where tokens are, but ${given} given.`,
    );
  }
  if (cookie === undefined) {
    return { carrier: headerCarrier(readHeader(reader, 'header')), maxAgeMillis: usualMillis };
  }
  const settings = resolveCookie(
    typeof cookie === 'string'
      ? new OptionReader({ name: cookie }, reader.pathOf('cookie'))
      : reader.group('cookie'),
  );
  return { carrier: cookieCarrier(settings), maxAgeMillis: settings.maxAgeMillis };
}

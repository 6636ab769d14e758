import { OptionReader } from '../config/option-reader.ts';
import type { Session } from '../consistency/session.ts';
import type { TokenContent } from '../consistency/token.ts';
import { readToken, writeToken } from '../consistency/token.ts';
import { InvalidTokenError } from '../errors.ts';
import { readManners } from './read-manners.ts';
import type { SessionOptions } from './session-options.ts';
import { contentOf, sessionOf, startSession, systemIdOf } from './session-scope.ts';
import type { SplitState } from './split-state.ts';

/**
 * Makes the session that `rwSplit(db).session(options, fn)` runs in.
 *
 * @throws {ConfigError} when an option can't be used as written.
 * @throws {InvalidTokenError} when the token can't be believed, unless that is to be ignored.
 */
export function openSession(state: SplitState, options: SessionOptions): Session {
  const reader = new OptionReader(options, 'session');
  const after = reader.read('after');
  const invalidToken = reader.choice('invalidToken', undefined, ['error', 'ignore']);
  const manners = readManners(reader, state.settings.target);
  reader.finish();
  if (after === undefined && invalidToken === undefined) return startSession(state, manners);

  const isStrict = invalidToken !== 'ignore';
  return startSession(state, { ...manners, isStrict }, contentOfToken(state, after, isStrict));
}

/** The token of the session that the caller is in; undefined where it has nothing to see. */
export function tokenOf(state: SplitState): string | undefined {
  const content = contentOf(sessionOf(state));
  if (content === undefined) return undefined;
  const [secret] = state.settings.consistency.token.secrets;
  return writeToken(content, { systemId: systemIdOf(state), secret, now: Date.now() });
}

function contentOfToken(
  state: SplitState,
  token: unknown,
  isStrict: boolean,
): TokenContent | undefined {
  if (token === undefined) return undefined;
  const { secrets, maxAgeMillis } = state.settings.consistency.token;
  const check = { systemId: systemIdOf(state), secrets, maxAgeMillis, now: Date.now() };
  try {
    return readToken(typeof token === 'string' ? token : '', check);
  } catch (error) {
    if (isStrict || !(error instanceof InvalidTokenError)) throw error;
    return undefined;
  }
}

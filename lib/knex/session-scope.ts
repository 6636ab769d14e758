import { systemClock } from '../clock.ts';
import type { ConsistencyMode } from '../config/consistency-options.ts';
import { Session } from '../consistency/session.ts';
import type { TokenContent } from '../consistency/token.ts';
import { currentScope, inScope } from './scope.ts';
import type { SplitState } from './split-state.ts';

/** What a session does otherwise than its client. */
export interface SessionManners {
  readonly consistency?: ConsistencyMode | undefined;
  readonly waitMillis?: number | undefined;
  readonly monotonic?: boolean | undefined;
  /** Whether a token that turns out to be wrong fails a read, rather than count as none. */
  readonly isStrict?: boolean | undefined;
}

/** The session of a client that the caller is in: of the innermost scope, else the client's own. */
export function sessionOf(state: SplitState): Session {
  return currentScope()?.sessions?.get(state) ?? state.session;
}

/**
 * Makes a session of a client, within the one that the caller is in, if any but the client's own.
 *
 * @param after what a token says of another session, whose writes this one is to see.
 */
export function startSession(
  state: SplitState,
  { consistency, waitMillis, monotonic, isStrict }: SessionManners,
  after?: TokenContent,
): Session {
  const outer = currentScope()?.sessions?.get(state);
  const usual = outer?.settings ?? state.session.settings;
  const settings = {
    mode: consistency ?? usual.mode,
    waitMillis: waitMillis ?? usual.waitMillis,
    monotonic: monotonic ?? usual.monotonic,
    isStrict: isStrict ?? usual.isStrict,
  };
  return new Session(settings, systemClock.now(), outer, after);
}

/** Runs `fn`, and whatever it starts, in a session. */
export function inSession<T>(state: SplitState, session: Session, fn: () => T): T {
  const sessions = new Map(currentScope()?.sessions).set(state, session);
  return inScope({ sessions }, fn);
}

/** What a token says of a session; undefined where there is nothing to see. */
export function contentOf(session: Session): TokenContent | undefined {
  const { content } = session;
  const { written, seen, isUncertain } = content;
  return written === undefined && seen === undefined && !isUncertain ? undefined : content;
}

/** The system identifier of the client's cluster, as far as a server has told it. */
export function systemIdOf(state: SplitState): string | undefined {
  return state.split?.cluster.memory.systemId;
}

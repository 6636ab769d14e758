import { systemClock } from '../clock.ts';
import type { ConsistencyMode } from '../config/consistency-options.ts';
import type { Session } from '../consistency/session.ts';
import { ConfigError } from '../errors.ts';
import { Need } from '../routing/need.ts';
import type { Hint, RouteRequest } from '../routing/route.ts';
import type { Intent } from '../sql/verdict.ts';
import type { RWSplit } from './rw-split.ts';
import { sessionOf } from './session-scope.ts';

/** The part of a request that is about what its session wrote. */
export type ConsistencyPart = Pick<RouteRequest, 'session' | 'isTracked' | 'need' | 'isStrong'>;

/** What surrounds a statement, as far as it matters here. */
export interface Surroundings {
  readonly hint?: Hint | undefined;
  readonly scope?: 'primary' | 'replica' | undefined;
}

/**
 * Says what a statement has to see of its session, and whether its own position is captured.
 *
 * @throws {ConfigError} when the client's target leaves no host that could tell.
 */
export function consistencyOf(
  split: RWSplit,
  intent: Intent,
  { hint, scope }: Surroundings,
  session: Session = sessionOf(split.state),
): ConsistencyPart {
  const { state, settings } = split;
  const mode = hint?.consistency ?? session.settings.mode;
  const isTold = hint?.consistency !== undefined;
  if (mode !== state.session.settings.mode) assertPossible(mode, settings.target);
  if (mode === 'eventual' && !session.settings.monotonic) return { session };

  // With one host there is nothing to be behind.
  const isTracked = split.cluster.hosts.length > 1;
  if (!isTracked || intent !== 'read') return { session, isTracked };
  // A host that is named serves as it is, unless the same hint says otherwise.
  if (hint?.host !== undefined && !isTold) return { session, isTracked };
  const wantsReplica = hint?.target === 'replica' || (scope === 'replica' && !isTold);
  if (mode === 'strong' && !wantsReplica) return { session, isTracked, isStrong: true };
  if (mode === 'strong' && isTold) {
    throw new ConfigError(
      'consistency',
      'A hint asks a replica for the consistency "strong", which only the primary has; remove one of the two.',
    );
  }
  // Who asks a strong client for a replica sees at least what the session wrote.
  const kept = mode === 'strong' ? 'session' : mode;
  return { session, isTracked, need: needOf(split, session, kept) };
}

/** What a read of a session needs of a replica; undefined where any will do. */
export function needOf(
  { cluster, settings }: RWSplit,
  session: Session,
  mode: ConsistencyMode,
): Need | undefined {
  const now = systemClock.now();
  const isUncertain = session.isUncertain && (mode === 'session' || session.settings.monotonic);
  const floor = session.floor(mode);
  if (floor === undefined && !isUncertain) return undefined;

  // After a promotion, what was written before it has another position, or is lost.
  const isOutdated = floor !== undefined && floor.timeline < cluster.memory.timeline;
  return new Need({
    mark: isUncertain || isOutdated ? undefined : floor,
    since: session.changedAt,
    waitUntil: now + session.settings.waitMillis,
    giveUpAt: now + Math.max(settings.failover.waitMillis, session.settings.waitMillis),
    positions: cluster.positions,
    clock: systemClock,
  });
}

/**
 * Refuses a consistency that no host of a target could give.
 *
 * @throws {ConfigError} when that is so.
 */
export function assertPossible(mode: ConsistencyMode, target: string): void {
  const isPossible =
    mode === 'eventual' || (target !== 'any' && (mode !== 'strong' || target !== 'replica'));
  if (isPossible) return;

  throw new ConfigError(
    'consistency',
    `The consistency "${mode}" needs the primary, and the target "${target}" ${target === 'any' ? 'knows none' : 'never reads there'}; use ${target === 'any' ? "'eventual'" : "'session' or 'eventual'"}.`,
  );
}

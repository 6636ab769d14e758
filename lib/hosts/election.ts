import type { ServerReport } from './server-report.ts';

/** One host, as far as the question who the primary is concerns it. */
export interface Candidate {
  /** Whether the configuration calls it the primary. */
  readonly isPresumed: boolean;
  /** Whether it was ever seen in recovery: a replica of this cluster, and not some other server. */
  readonly wasInRecovery: boolean;
  /** What its server said last, while it is reachable. */
  readonly report: ServerReport | undefined;
  /** The timeline on which it was a primary beside the elected one, with a history of its own. */
  readonly rivalTimeline?: number | undefined;
}

/** What must not be forgotten from one election to the next. */
export interface ClusterMemory {
  /** The identifier of the cluster, as far as a server has told it. */
  readonly systemId: string | undefined;
  /** Whether a primary with that identifier was elected; until then another one may turn out right. */
  readonly isSystemIdProved: boolean;
  /** The highest timeline that any of its servers was seen on; 0 before the first. */
  readonly timeline: number;
}

/** What an election says of a host that is not elected. */
export type Exclusion =
  'foreign' | 'fenced' | 'unproved' | 'another primary' | 'same server' | 'old timeline';

/** The outcome of an election. */
export interface Election<C extends Candidate> {
  readonly primary: C | undefined;
  /** Hosts that must serve neither reads nor writes. */
  readonly excluded: ReadonlyMap<C, Exclusion>;
  readonly memory: ClusterMemory;
}

/** Before anything was seen. */
export const noMemory: ClusterMemory = Object.freeze({
  systemId: undefined,
  isSystemIdProved: false,
  timeline: 0,
});

/**
 * Elects the primary: it is not in recovery, belongs to the cluster, and is on its highest timeline.
 *
 * A server on a lower timeline than was ever seen is an old primary, and gets no writes, not even
 * while no other can be reached. A configured replica has to prove that it is of this cluster: by
 * the identifier, or by having been in recovery. Read-only defaults say nothing.
 *
 * @param current who was elected last, to be preferred among equals.
 */
export function elect<C extends Candidate>(
  candidates: readonly C[],
  memory: ClusterMemory,
  current: C | undefined,
): Election<C> {
  const systemId = memory.isSystemIdProved
    ? memory.systemId
    : presumedId(candidates, memory.systemId);
  const excluded = new Map<C, Exclusion>();
  const claimants: C[] = [];
  // Timelines of what turns out to be another cluster say nothing of this one's.
  const isOther = memory.systemId !== undefined && memory.systemId !== systemId;
  let timeline = isOther ? 0 : memory.timeline;

  for (const candidate of candidates) {
    const { report } = candidate;
    if (report === undefined) continue;

    if (isForeign(report, systemId)) {
      excluded.set(candidate, 'foreign');
      continue;
    }
    const isClaimant = claims(candidate, report);
    if (isClaimant && !isProved(candidate, report, systemId)) {
      excluded.set(candidate, 'unproved');
      continue;
    }
    if (isClaimant) claimants.push(candidate);
    // A replica that follows a promoted server proves the promotion, whoever can be reached.
    timeline = Math.max(timeline, report.timeline ?? 0);
  }

  for (const candidate of candidates) {
    if (!excluded.has(candidate) && followsOldPrimary(candidate, timeline)) {
      excluded.set(candidate, 'old timeline');
    }
  }
  const fit = claimants.filter(({ report }) => (report?.timeline ?? 0) >= timeline);
  const eligible = fit.filter((claimant) => !isRival(claimant));
  const primary = current !== undefined && eligible.includes(current) ? current : eligible[0];
  for (const claimant of claimants) {
    if (claimant === primary) continue;
    const isSame = primary !== undefined && isSameServer(claimant, primary);
    const rank = isSame ? 'same server' : 'another primary';
    excluded.set(claimant, fit.includes(claimant) ? rank : 'fenced');
  }
  const isSystemIdProved = memory.isSystemIdProved || primary?.report?.systemId !== undefined;
  return { primary, excluded, memory: { systemId, isSystemIdProved, timeline } };
}

// Two servers that were both promoted have grown apart: writes must not move between them by accident.
function isRival({ rivalTimeline, report }: Candidate): boolean {
  return rivalTimeline !== undefined && (report?.timeline ?? 0) <= rivalTimeline;
}

function isSameServer(one: Candidate, other: Candidate): boolean {
  return one.report?.server !== undefined && one.report.server === other.report?.server;
}

// Its source is not the primary: it lacks what the primary has, however fresh it looks.
function followsOldPrimary({ report }: Candidate, timeline: number): boolean {
  if (report?.isInRecovery !== true || !report.isTimelineCurrent) return false;
  return report.timeline !== undefined && report.timeline < timeline;
}

// Whose word counts before a primary was elected: the presumed primary's, then the first replica's.
function presumedId(
  candidates: readonly Candidate[],
  remembered: string | undefined,
): string | undefined {
  const told = candidates.filter(({ report }) => report?.systemId !== undefined);
  const presumed = told.find(({ isPresumed }) => isPresumed);
  const replica = told.find(({ wasInRecovery }) => wasInRecovery);
  return presumed?.report?.systemId ?? remembered ?? replica?.report?.systemId;
}

function isForeign(report: ServerReport, systemId: string | undefined): boolean {
  return report.systemId !== undefined && systemId !== undefined && report.systemId !== systemId;
}

// An engine that knows no recovery has no roles to tell: the configured primary stands.
function claims({ isPresumed }: Candidate, { isInRecovery }: ServerReport): boolean {
  return isInRecovery === false || (isInRecovery === undefined && isPresumed);
}

function isProved(
  { isPresumed, wasInRecovery }: Candidate,
  report: ServerReport,
  systemId: string | undefined,
): boolean {
  if (isPresumed || wasInRecovery) return true;
  return systemId !== undefined && report.systemId === systemId;
}

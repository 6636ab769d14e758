import type { Books, FailedTask } from './books.ts';
import type { Incidents, Outage } from './incidents.ts';
import { type Heard, isHost } from './listen.ts';
import { none, type Verdict } from './verdicts.ts';

// How long a kill takes until the program can know of it, on a busy machine.
const graceMillis = 1000;
// How long it may take to find the primary once it is there, on a busy machine.
const mostSecondsToNotice = 3;

/** Judges what the program met while hosts were killed; `lost` orders were acknowledged and are gone. */
export function judgeOutcomes(
  books: Books,
  { retries }: Heard,
  { replica, failover }: Incidents,
  lost: number,
): readonly Verdict[] {
  const { outage, promotedAt } = failover;
  const of = (...kinds: readonly string[]): FailedTask[] =>
    books.failed.filter(({ kind }) => kinds.includes(kind));

  const cutShort = of('long read').filter((task) =>
    [replica, outage].some((kill) => wasCutOff(task, kill)),
  );
  const inFlight = of('write', 'transaction').filter((task) => wasCutOff(task, outage));
  const unknown = inFlight.filter(({ error }) => error.rwSplit?.outcome === 'unknown');
  // Without its COMMIT, a transaction is rolled back for sure.
  const rolledBack = inFlight.filter(
    (task) => !unknown.includes(task) && task.kind === 'transaction',
  );
  const homeless = of('write', 'transaction').filter(
    ({ error, failedAt }) =>
      error.code === 'RWSPLIT_NO_HOST' && failedAt > outage.killedAt && failedAt < promotedAt,
  );
  const expected = new Set([...cutShort, ...unknown, ...rolledBack, ...homeless]);
  const others = books.failed.filter((task) => !expected.has(task));
  const failedReads = others.filter(({ kind }) => kind === 'read' || kind === 'long read');
  const failedWrites = others.filter((task) => !failedReads.includes(task));

  const withoutPrimary = books.done('read', outage.killedAt, promotedAt);
  const toNotice = Math.max(0, books.firstWrite(promotedAt) - promotedAt) / 1000;
  return [
    none(`failed reads${causes(failedReads)}`, failedReads.length),
    {
      says: 'reads served while there was no primary',
      count: withoutPrimary,
      holds: withoutPrimary > 0,
    },
    { says: 'statements that the library ran again on another host', count: retries },
    { says: 'reports and exports cut off when their host was killed', count: cutShort.length },
    none(`failed writes that nothing excuses${causes(failedWrites)}`, failedWrites.length),
    {
      says: 'failed writes (in flight when the primary was killed; their outcome is unknown)',
      count: unknown.length,
    },
    {
      says: 'failed transactions (open when the primary was killed; rolled back)',
      count: rolledBack.length,
    },
    { says: 'failed writes (no primary came in time)', count: homeless.length },
    none(
      `acknowledged orders lost (of ${books.orders.length}; each was on one of the replicas before it was acknowledged)`,
      lost,
    ),
    {
      says: 'seconds without a primary',
      count: ((promotedAt - outage.killedAt) / 1000).toFixed(1),
    },
    {
      says: 'seconds from then to the first write',
      count: toNotice.toFixed(1),
      holds: toNotice <= mostSecondsToNotice,
    },
  ];
}

// Whether it began before its host was killed, or so soon after that nobody could know.
function wasCutOff(task: FailedTask, { host, killedAt }: Outage): boolean {
  const isThen = task.begunAt <= killedAt + graceMillis && task.failedAt >= killedAt;
  return isThen && isHost(host, task.error.rwSplit?.host);
}

function causes(tasks: readonly FailedTask[]): string {
  const messages = new Set(tasks.map(({ error }) => error.message));
  return messages.size > 0 ? ` (${[...messages].join('; ')})` : '';
}

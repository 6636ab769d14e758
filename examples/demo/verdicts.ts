import type { Heard } from './listen.ts';
import type { Counted } from './statistics.ts';
import { promotedCount, total, type Tallies } from './table.ts';

/** A number of the summary; where it has to be a certain one, whether it is. */
export interface Verdict {
  readonly says: string;
  readonly count: number | string;
  readonly holds?: boolean | undefined;
}

/** Judges what the hosts did, by their logs; `counted` is what pg_stat_statements says, where it is there. */
export function judgeHosts(
  tallies: Tallies,
  { readsWithoutReplica }: Heard,
  counted: readonly Counted[],
): readonly Verdict[] {
  const [primary, ...replicas] = [...tallies.values()];
  const refused = replicas.reduce((sum, tally) => sum + tally.refused, 0);
  const errors = [...tallies.values()].flatMap((tally) => tally.errors);
  const strays = replicas.reduce(
    (sum, tally) =>
      sum + tally.count('writes') + tally.count('traps') + tally.count('in transactions'),
    0,
  );
  const difference = counted.reduce(
    (sum, { host, statements }) => sum + Math.abs(statements - (tallies.get(host)?.total ?? 0)),
    0,
  );
  const idle = replicas.filter((tally) => tally.count('reads') === 0).length;
  const onPrimary = (primary?.count('reads') ?? 0) + promotedCount(tallies, 'reads');

  return [
    none('statements refused by a replica, and run again on the primary', refused),
    none(
      'autocommit reads on the primary that a replica could have served',
      Math.max(0, onPrimary - readsWithoutReplica),
    ),
    none('statements on a replica that belong to the primary', strays),
    none('replicas that served no read', idle),
    none('statements that nobody can account for', total(tallies, 'unknown')),
    none('statements that pg_stat_statements counts otherwise than the logs', difference),
    none(
      `other errors${errors.length > 0 ? ` (${[...new Set(errors)].join('; ')})` : ''}`,
      errors.length,
    ),
  ];
}

/** Says that there must be none. */
export function none(says: string, count: number): Verdict {
  return { says, count, holds: count === 0 };
}

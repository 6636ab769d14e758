import { total, type Tallies } from './table.ts';

/** A number that the servers' logs gave, and whether it is what it has to be. */
export interface Verdict {
  readonly says: string;
  readonly count: number;
  readonly holds: boolean;
}

/** Judges what the hosts did; `counted` is what pg_stat_statements says of each, where it is there. */
export function judge(tallies: Tallies, counted: readonly number[]): readonly Verdict[] {
  const [primary, ...replicas] = [...tallies.values()];
  const refused = replicas.reduce((sum, tally) => sum + tally.refused, 0);
  const errors = [...tallies.values()].flatMap((tally) => tally.errors);
  const strays = replicas.reduce(
    (sum, tally) =>
      sum + tally.count('writes') + tally.count('traps') + tally.count('in transactions'),
    0,
  );
  const logged = [...tallies.values()].map((tally) => tally.total);
  const difference = counted.reduce((sum, count, i) => sum + Math.abs(count - (logged[i] ?? 0)), 0);
  const idle = replicas.filter((tally) => tally.count('reads') === 0).length;

  return [
    none('statements refused by a replica, and run again on the primary', refused),
    none(
      'autocommit reads on the primary that a replica could have served',
      primary?.count('reads') ?? 0,
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

function none(says: string, count: number): Verdict {
  return { says, count, holds: count === 0 };
}

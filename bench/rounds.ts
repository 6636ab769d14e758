import { collectYoungGarbage } from './collect-garbage.ts';
import { applyLoad, type Sample } from './load.ts';
import { type Opened, type QueryName, rowsOf } from './subjects/subject.ts';

/** A query, and how many of it run at once. */
export interface Cell {
  readonly query: QueryName;
  readonly concurrency: number;
}

/** How long {@link measureCell} measures. */
export interface Effort {
  readonly rounds: number;
  /** How long each subject has in a round. */
  readonly millis: number;
  /** How long each has in the first round, which does not count; by default five times as long. */
  readonly warmUpMillis?: number | undefined;
}

/** What was measured of each subject, a sample for each round. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/**
 * Measures all that can run a query, in turn, so that whatever else the machine does happens to all.
 *
 * Each round begins with another one, and the first round, which opens connections and is longer,
 * until what is compiled late is compiled, does not count.
 */
export async function measureCell(
  opened: ReadonlyMap<string, Opened>,
  { query, concurrency }: Cell,
  { rounds, millis, warmUpMillis = millis * 5 }: Effort,
): Promise<Samples> {
  const contenders = [...opened].filter(([, { [query]: run }]) => run !== undefined);
  const samples = new Map<string, Sample[]>(contenders.map(([name]) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const place of contenders.keys()) {
      const [name, { [query]: run } = {}] = contenders[(place + round) % contenders.length] ?? [];
      if (name === undefined || run === undefined) continue;
      collectYoungGarbage();
      const load = { concurrency, millis: round > 0 ? millis : warmUpMillis, rows: rowsOf[query] };
      const sample = await applyLoad(run, load);
      if (round > 0) samples.get(name)?.push(sample);
    }
  }
  return samples;
}

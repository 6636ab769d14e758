import type { TestHost } from '../../lib/testing/index.ts';
import type { FinalState } from './history-checker.ts';

/** What the primary has of every key of a history. */
export async function finalState(primary: TestHost): Promise<FinalState> {
  const rows = await primary.query<{ key: string; versions: string[] }>(
    'select key, array_agg(version) as versions from entries group by key',
  );
  return new Map(rows.map(({ key, versions }) => [key, new Set(versions)]));
}

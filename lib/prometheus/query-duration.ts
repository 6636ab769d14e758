import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { Histogram } from 'prom-client';
import type { LeaseDescription } from '../routing/lease.ts';
import type { MetricsPlace } from './metrics-options.ts';

/** What Knex's events show of a query. */
interface ShownQuery {
  readonly __knexQueryUid?: string | undefined;
  readonly rwSplit?: LeaseDescription | undefined;
}

// Knex says nothing of the end of a stream.
const MAX_UNDER_WAY = 10_000;

/**
 * Times queries from Knex's event `query` to its answer, retries included, by where they ran at last.
 *
 * @returns what ends it.
 */
export function timeQueries(
  { registry, prefix }: MetricsPlace,
  db: Knex,
  buckets: readonly number[],
): () => void {
  const name = `${prefix}query_duration_seconds`;
  const histogram = new Histogram({
    name,
    help: 'How long queries took, by where they ran at last; without streams and schema builders.',
    registers: [registry],
    labelNames: ['host', 'role', 'outcome'],
    buckets: [...buckets],
  });
  const startedAt = new LRUCache<string, number>({ max: MAX_UNDER_WAY });

  function started({ __knexQueryUid: id, rwSplit }: ShownQuery): void {
    if (id !== undefined && rwSplit !== undefined) startedAt.set(id, performance.now());
  }

  function ended({ __knexQueryUid: id = '', rwSplit }: ShownQuery, outcome: string): void {
    const began = startedAt.get(id);
    if (began === undefined || rwSplit === undefined) return;
    startedAt.delete(id);
    const { host, role } = rwSplit;
    histogram.observe({ host, role, outcome }, (performance.now() - began) / 1000);
  }

  const answered = (_: unknown, query: ShownQuery): void => ended(query, 'ok');
  const failed = (_: unknown, query: ShownQuery): void => ended(query, 'error');
  db.on('query', started).on('query-response', answered).on('query-error', failed);
  return () => {
    db.off('query', started).off('query-response', answered).off('query-error', failed);
    registry.removeSingleMetric(name);
  };
}

import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { Histogram } from 'prom-client';
import type { HostRole } from '../events.ts';
import type { LeaseDescription } from '../routing/lease.ts';
import type { MetricsPlace } from './metrics-place.ts';
import { NotedHosts } from './noted-hosts.ts';

/** What Knex's events show of a query. */
interface ShownQuery {
  readonly __knexQueryUid?: string | undefined;
  readonly rwSplit?: LeaseDescription | undefined;
}

// Knex says nothing of the end of a stream.
const MAX_UNDER_WAY = 10_000;

type Outcome = 'ok' | 'error';
const roles: readonly HostRole[] = ['primary', 'replica'];
const outcomes: readonly Outcome[] = ['ok', 'error'];

/**
 * Times queries from Knex's event `query` to its answer, retries included, by where they ran at last.
 *
 * @param present the names of the hosts that there are; undefined where that is not known.
 */
export function timeQueries(
  place: MetricsPlace,
  db: Knex,
  buckets: readonly number[],
  present: () => readonly string[] | undefined,
): void {
  const noted = new NotedHosts();
  const histogram: Histogram = new Histogram({
    name: place.nameOf('query_duration_seconds'),
    help: 'How long queries took, by where they ran at last; without streams and schema builders.',
    registers: [place.registry],
    labelNames: ['host', 'role', 'outcome'],
    buckets: [...buckets],
    collect() {
      for (const host of noted.takeGone(present())) {
        for (const role of roles) {
          for (const outcome of outcomes) histogram.remove({ host, role, outcome });
        }
      }
    },
  });
  place.own('query_duration_seconds', histogram);
  const startedAt = new LRUCache<string, number>({ max: MAX_UNDER_WAY });

  function started({ __knexQueryUid: id, rwSplit }: ShownQuery): void {
    if (id !== undefined && rwSplit !== undefined) startedAt.set(id, performance.now());
  }

  function ended({ __knexQueryUid: id = '', rwSplit }: ShownQuery, outcome: Outcome): void {
    const began = startedAt.get(id);
    if (began === undefined || rwSplit === undefined) return;
    startedAt.delete(id);
    const { host, role } = rwSplit;
    noted.note(host);
    histogram.observe({ host, role, outcome }, (performance.now() - began) / 1000);
  }

  const answered = (_: unknown, query: ShownQuery): void => ended(query, 'ok');
  const failed = (_: unknown, query: ShownQuery): void => ended(query, 'error');
  db.on('query', started).on('query-response', answered).on('query-error', failed);
  place.atEnd(() => {
    db.off('query', started).off('query-response', answered).off('query-error', failed);
  });
}

import type { Knex } from 'knex';
import { register } from 'prom-client';
import { snapshot } from '../knex/host-snapshot.ts';
import type { HostSnapshot } from '../knex/host-snapshot.ts';
import { requireState } from '../knex/require-state.ts';
import { countEvents } from './event-counter.ts';
import { registerHostMetrics } from './host-metrics.ts';
import type { MetricsOptions } from './metrics-options.ts';
import { timeQueries } from './query-duration.ts';

const durationBounds: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/**
 * Registers what `rwSplit(db)` knows as metrics: state, lag and pool of each host when they are asked
 * for, and how long queries took and what happened to hosts from its events.
 *
 * @returns what ends it: takes the metrics out of the registry, and the listeners away.
 * @throws {ConfigError} when the client of `db` doesn't split.
 * @throws {Error} of prom-client when the registry has metrics of these names.
 */
export function registerMetrics(
  db: Knex,
  {
    registry = register,
    prefix = 'rwsplit_',
    durationBuckets = durationBounds,
  }: MetricsOptions = {},
): () => void {
  const state = requireState(db);
  const place = { registry, prefix };

  // Nothing is known of a Knex instance that was destroyed.
  function hosts(): readonly HostSnapshot[] {
    const { hosts: found = [], elected } = state.split?.cluster ?? {};
    return found.map((host) => snapshot(host, elected));
  }

  const stops = [
    registerHostMetrics(place, hosts),
    countEvents(place, state.events),
    timeQueries(place, db, durationBuckets),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

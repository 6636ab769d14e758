import type { Knex } from 'knex';
import { register } from 'prom-client';
import { requireState } from '../knex/require-state.ts';
import { countEvents } from './event-counter.ts';
import { registerHostMetrics } from './host-metrics.ts';
import type { MetricsOptions } from './metrics-options.ts';
import { MetricsPlace } from './metrics-place.ts';
import { timeQueries } from './query-duration.ts';
import { shownHosts } from './shown-hosts.ts';

const durationBounds: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/**
 * Registers what `rwSplit(db)` knows as metrics: state, lag and pool of each host when they are asked
 * for, and how long queries took and what happened to hosts from its events.
 *
 * @returns what ends it: takes these metrics out of the registry, and the listeners away.
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
  const place = new MetricsPlace(registry, prefix);
  const present = (): readonly string[] | undefined =>
    state.split?.cluster.hosts.map(({ name }) => name);

  try {
    registerHostMetrics(place, () => shownHosts(state.split));
    countEvents(place, state.events, present);
    timeQueries(place, db, durationBuckets, present);
  } catch (error) {
    place.end();
    throw error;
  }
  return () => place.end();
}

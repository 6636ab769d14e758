import { Counter } from 'prom-client';
import type { RWSplitEmitter, RWSplitEvents } from '../events.ts';
import type { MetricsPlace } from './metrics-options.ts';

// Routes and stale answers are counted by the hosts themselves.
const events: readonly Exclude<keyof RWSplitEvents, 'route' | 'stale'>[] = [
  'misroute',
  'retry',
  'host:up',
  'host:down',
  'host:role',
  'host:lag',
  'host:fenced',
  'host:excluded',
  'discovery:error',
];

/**
 * Counts what happens to hosts and statements.
 *
 * @returns what ends it.
 */
export function countEvents(
  { registry, prefix }: MetricsPlace,
  emitter: RWSplitEmitter,
): () => void {
  const name = `${prefix}events_total`;
  const counter = new Counter({
    name,
    help: 'Events of rwSplit(db), but for those of routes, by name and host.',
    registers: [registry],
    labelNames: ['event', 'host'],
  });

  const listeners = events.map((event) => {
    const listener = (about: { readonly host?: string }): void => {
      counter.inc({ event, host: about.host ?? '' });
    };
    emitter.on(event, listener);
    return { event, listener };
  });
  return () => {
    for (const { event, listener } of listeners) emitter.off(event, listener);
    registry.removeSingleMetric(name);
  };
}

import { Counter } from 'prom-client';
import type { RWSplitEmitter, RWSplitEvents } from '../events.ts';
import type { MetricsPlace } from './metrics-place.ts';
import { NotedHosts } from './noted-hosts.ts';

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
 * @param present the names of the hosts that there are; undefined where that is not known.
 */
export function countEvents(
  place: MetricsPlace,
  emitter: RWSplitEmitter,
  present: () => readonly string[] | undefined,
): void {
  const noted = new NotedHosts();
  const counter: Counter = new Counter({
    name: place.nameOf('events_total'),
    help: 'Events of rwSplit(db), but for those of routes, by name and host.',
    registers: [place.registry],
    labelNames: ['event', 'host'],
    collect() {
      for (const host of noted.takeGone(present())) {
        for (const event of events) counter.remove({ event, host });
      }
    },
  });
  place.own('events_total', counter);

  for (const event of events) {
    const listener = ({ host }: { readonly host?: string }): void => {
      if (host !== undefined) noted.note(host);
      counter.inc({ event, host: host ?? '' });
    };
    emitter.on(event, listener);
    place.atEnd(() => emitter.off(event, listener));
  }
}

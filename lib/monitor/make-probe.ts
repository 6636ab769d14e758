import type { Clock } from '../clock.ts';
import { budgetOf } from '../hosts/budget-shortage.ts';
import type { Host } from '../hosts/host.ts';
import type { DialProbe } from './probe.ts';
import { Probe } from './probe.ts';
import { probePlace } from './probe-place.ts';
import type { Prober } from './shared-probe.ts';
import { SharedProbe } from './shared-probe.ts';

/** Makes the probe of a host: one that shares its connection where the server has a budget. */
export function makeProbe(host: Host, dial: DialProbe, clock: Clock, onLost: () => void): Prober {
  const budget = budgetOf(host.pool);
  return budget === undefined
    ? new Probe(dial, clock, onLost)
    : new SharedProbe(dial, clock, onLost, probePlace(budget, clock));
}

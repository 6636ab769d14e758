import type { SimulatedFleet } from './simulated-fleet.ts';
import type { SimulatedServer } from './simulated-server.ts';

/** How a replica fares in a scenario, besides what the load does to it. */
export type Fate = 'well' | 'slow' | 'refuses' | 'hangs';

/** Something that happens to the replicas, in seconds from the beginning. */
export interface Incident {
  readonly at: number;
  readonly happen: (fleet: SimulatedFleet) => void;
}

/** What happens in a run, in seconds from its beginning. */
export interface Scenario {
  readonly seconds: number;
  /** From when to when is measured. */
  readonly window: readonly [from: number, to: number];
  /** When those that don't do well are well again. */
  readonly backAt?: number;
  /** How a replica fares, by its place. */
  readonly fateOf: (place: number) => Fate;
  readonly incidents: readonly Incident[];
}

/** The name of a scenario. */
export type ScenarioName = 'even' | 'slow' | 'outage';

/** Slow, refusing and hanging replicas are one in so many each. */
export const ONE_IN = 20;

const SLOWNESS = 10;

const HEALED_SECOND = 15;

/** When the replicas of the outage leave, and when they come back. */
export const outageSeconds: { readonly from: number; readonly to: number } = { from: 10, to: 20 };

const isWell = (): Fate => 'well';

function slowFate(place: number): Fate {
  return place % ONE_IN === 5 ? 'slow' : 'well';
}

// Those that hang are of the large ones, those that refuse of the others.
function outageFate(place: number): Fate {
  if (place % ONE_IN === 10) return 'refuses';
  return place % ONE_IN === 15 ? 'hangs' : 'well';
}

function toAll(act: (server: SimulatedServer, place: number) => void): Incident['happen'] {
  return ({ replicas }) => {
    for (const [place, { server }] of replicas.entries()) act(server, place);
  };
}

const slowDown = toAll((server, place) => {
  if (slowFate(place) === 'slow') server.slowness = SLOWNESS;
});

const heal = toAll((server) => {
  server.slowness = 1;
});

const leave = toAll((server, place) => {
  const fate = outageFate(place);
  if (fate === 'refuses' || fate === 'hangs') server.conduct = fate;
});

const comeBack = toAll((server, place) => {
  if (outageFate(place) !== 'well') server.conduct = 'works';
});

/** The scenarios that every balancer goes through. */
export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  even: { seconds: 15, window: [5, 15], fateOf: isWell, incidents: [] },
  slow: {
    seconds: 30,
    window: [5, HEALED_SECOND],
    backAt: HEALED_SECOND,
    fateOf: slowFate,
    incidents: [
      { at: 0, happen: slowDown },
      { at: HEALED_SECOND, happen: heal },
    ],
  },
  outage: {
    seconds: 50,
    window: [outageSeconds.from, outageSeconds.to],
    backAt: outageSeconds.to,
    fateOf: outageFate,
    incidents: [
      { at: outageSeconds.from, happen: leave },
      { at: outageSeconds.to, happen: comeBack },
    ],
  },
};

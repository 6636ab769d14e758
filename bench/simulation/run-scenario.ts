import { type BalancerName, balancers } from './balancers.ts';
import { Draws } from './draws.ts';
import { Observation } from './observation.ts';
import type { Scenario } from './scenarios.ts';
import { SimulatedClient } from './simulated-client.ts';
import { SimulatedFleet } from './simulated-fleet.ts';
import { VirtualTime } from './virtual-time.ts';

/** How large a run is. */
export interface Setting {
  readonly replicas: number;
  /** Processes of the application, each with a client of its own. */
  readonly clients: number;
  /** Queries, as a share of what the replicas can serve. */
  readonly load: number;
  readonly seed: number;
}

// What is on its way when no more queries come has so long to end.
const MOST_TAIL_SECONDS = 60;

// Far apart, so that no two draw the same.
const SEEDS = { client: 1_000_000, balancer: 2_000_000, monitor: 3_000_000 } as const;

/** Has clients with a balancer go through a scenario. */
export async function runScenario(
  scenario: Scenario,
  balancer: BalancerName,
  setting: Setting,
): Promise<Observation> {
  const time = new VirtualTime();
  const restore = time.install();
  try {
    return await run(scenario, balancer, setting, time);
  } finally {
    restore();
  }
}

async function run(
  scenario: Scenario,
  balancer: BalancerName,
  { replicas, clients, load, seed }: Setting,
  time: VirtualTime,
): Promise<Observation> {
  const fleet = new SimulatedFleet(time, replicas, seed);
  const seen = new Observation();
  const begin = time.now();
  const end = begin + scenario.seconds * 1000;

  for (const { at, happen } of scenario.incidents) time.after(at * 1000, () => happen(fleet));
  for (let second = 1; second <= scenario.seconds; second++) {
    time.after(second * 1000, () => noteSecond(fleet, seen));
  }
  const running: SimulatedClient[] = [];
  for (let number = 0; number < clients; number++) {
    const random = new Draws(seed + SEEDS.balancer + number).uniform;
    const monitorRandom = new Draws(seed + SEEDS.monitor + number).uniform;
    const client = new SimulatedClient(
      fleet,
      balancers[balancer](random, replicas),
      time,
      monitorRandom,
    );
    running.push(client);
    client.start();
    const draws = new Draws(seed + SEEDS.client + number);
    const gap = (1000 * clients) / (fleet.capacity * load);
    keepAsking(client, time, () => draws.exponential(gap), { begin, end, seen });
  }

  await time.runUntil(end);
  for (let tail = 0; seen.open > 0 && tail < MOST_TAIL_SECONDS; tail++) {
    // oxlint-disable-next-line no-await-in-loop -- one second follows the other.
    await time.runUntil(time.now() + 1000);
  }
  for (const client of running) client.stop();
  return seen;
}

interface Course {
  readonly begin: number;
  readonly end: number;
  readonly seen: Observation;
}

// Whoever visits a site doesn't wait for the others to be served.
function keepAsking(
  client: SimulatedClient,
  time: VirtualTime,
  gap: () => number,
  { begin, end, seen }: Course,
): void {
  const ask = (): void => {
    const startedAt = time.now();
    if (startedAt >= end) return;
    seen.open++;
    client
      .read()
      .then(
        () => seen.note(startedAt - begin, time.now() - startedAt),
        () => seen.failures++,
      )
      .finally(() => seen.open--);
    time.after(gap(), ask);
  };
  time.after(gap(), ask);
}

function noteSecond({ replicas }: SimulatedFleet, seen: Observation): void {
  seen.given.push(replicas.map(({ server }) => server.given));
  seen.mostAtOnce.push(replicas.map(({ server }) => server.mostAtOnce));
  for (const { server } of replicas) server.beginCount();
}

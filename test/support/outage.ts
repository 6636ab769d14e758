import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { TestHost } from '../../lib/testing/index.ts';
import { awaitHost } from './await-host.ts';
import { eventually } from './eventually.ts';
import { isAnswered, type Served } from './load-report.ts';
import { type Load, type LoadReport, startLoad } from './steady-load.ts';

/** How hosts are watched in tests, so that what takes minutes by default takes a second. */
export const quickHealth = {
  intervalMillis: 200,
  timeoutMillis: 300,
  fall: 2,
  rise: 2,
  backoffMaxMillis: 500,
  slowStartMillis: 500,
  hangMillis: 700,
} as const;

// Probes are at most so much later than their interval says.
const JITTER = 1.2;

/** How long a host that is well again may stay out of use, by what {@link quickHealth} says. */
export const readmitMillis: number =
  JITTER * quickHealth.backoffMaxMillis +
  (quickHealth.rise - 1) * JITTER * quickHealth.intervalMillis;

/** How long a read may take of which a host hung that {@link quickHealth} watches. */
export const hungReadMillis: number =
  JITTER * quickHealth.intervalMillis + quickHealth.timeoutMillis + quickHealth.hangMillis;

/** How late things may be on a busy machine, over what the settings say. */
export const machineMillis = 8000;

/** What happens to hosts while a load runs. */
export interface Outage {
  readonly hosts: readonly TestHost[];
  readonly fail: (host: TestHost) => unknown;
  readonly heal: (host: TestHost) => unknown;
}

/** What an outage meant to the load. */
export interface OutageReport extends LoadReport {
  /** Who served reads while the hosts were known to be down. */
  readonly servedWhileDown: Served;
  /** Milliseconds from the moment that the last host was healed to the one when all were up. */
  readonly readmittedMillis: number;
  /** Milliseconds from there to the one when both replicas served the same share of the reads. */
  readonly evenMillis: number;
}

const warmUpMillis = 150;
const downMillis = 300;
const patienceMillis = 20_000;

// Of the latest reads, what two servers each serve if they share them evenly; half, less a little.
const latestReads = 60;
const evenShare = 0.4;

/** Lets hosts fail and recover under 200 queries a second, three reads to a write. */
export async function rideOut(db: Knex, { hosts, fail, heal }: Outage): Promise<OutageReport> {
  const load = startLoad(db, { readsPerSecond: 150, writesPerSecond: 50 });
  await sleep(warmUpMillis);
  await Promise.all(hosts.map(fail));
  await allAre(db, hosts, 'down');
  const downAt = load.now();
  // What was on its way to them is answered without them.
  await eventually(() => load.reads.every((read) => read.atMillis > downAt || isAnswered(read)), {
    withinMillis: hungReadMillis + machineMillis,
  });
  await sleep(downMillis);
  const downUntil = load.now();

  await Promise.all(hosts.map(heal));
  const healedAt = load.now();
  await allAre(db, hosts, 'up');
  const upAt = load.now();

  await untilEven(load);
  const evenAt = load.now();
  const report = await load.stop();
  return {
    ...report,
    servedWhileDown: report.reads.spread(downAt, downUntil),
    readmittedMillis: upAt - healedAt,
    evenMillis: evenAt - healedAt,
  };
}

/** Waits until the two replicas have each served about half of the latest reads. */
export async function untilEven(load: Load): Promise<void> {
  await eventually(
    () => {
      const latest = load.reads.filter(isAnswered).slice(-latestReads);
      return ['replica-1', 'replica-2'].every(
        (name) => latest.filter(({ server }) => server === name).length > evenShare * latestReads,
      );
    },
    { withinMillis: patienceMillis },
  );
}

async function allAre(db: Knex, hosts: readonly TestHost[], state: 'up' | 'down'): Promise<void> {
  await Promise.all(hosts.map(({ name }) => awaitHost(db, name, (host) => host.state === state)));
}

import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../lib/index.ts';
import { type Cluster, startCluster } from '../lib/testing/index.ts';
import type { Bench } from './bench-run.ts';
import { atLeast, reportChecks } from './results/check.ts';
import { type BalancerName, balancerNames } from './simulation/balancers.ts';
import { keepScale } from './simulation/keep-scale.ts';
import type { ReplicaFigure } from './simulation/scale-results.ts';

// Long beside what this machine needs for a query, so that it has the time for all replicas.
const SERVICE_SECONDS = 0.05;

const CONNECTIONS = 4;

// More than there are connections, so that none is ever idle for want of a query.
const QUERIES_FOR_EACH_CONNECTION = 2;

// Eight times as much as one replica, but for what the machine has no time for.
const isEnough = atLeast(7.6);

/** How many replicas serve, and for how long each is measured. */
interface Extent {
  readonly sizes: readonly number[];
  /** Until every connection is open, and in the middle of a query of its own. */
  readonly warmUpMillis: number;
  readonly millis: number;
}

const full: Extent = { sizes: [1, 2, 4, 8], warmUpMillis: 1000, millis: 3000 };
const smoke: Extent = { sizes: [1, 2], warmUpMillis: 50, millis: 100 };

/** Measures what more replicas serve, where each serves only so many queries at a time. */
export const benchScale: Bench = async ({ isSmoke, cluster }) => {
  console.log(`\nThroughput where each query takes ${SERVICE_SECONDS * 1000} ms, to one replica:`);
  const extent = isSmoke ? smoke : full;
  const own = isSmoke ? undefined : await startCluster({ replicas: Math.max(...extent.sizes) });
  try {
    const replicas = await measureAll(own ?? (await cluster()), extent);
    await keepScale({ replicas }, isSmoke);
    if (isSmoke) return true;

    const most = Math.max(...extent.sizes);
    const largest = replicas.filter((figure) => figure.replicas === most);
    return reportChecks(
      largest.map(({ balancer, ratio }) => isEnough(`${most} replicas, ${balancer}`, ratio)),
    );
  } finally {
    await own?.stop();
  }
};

async function measureAll(cluster: Cluster, extent: Extent): Promise<ReplicaFigure[]> {
  const figures: ReplicaFigure[] = [];
  // Warms up what is compiled late, and does not count.
  await measure(cluster, 'round-robin', Math.max(...extent.sizes), extent);
  for (const balancer of balancerNames) {
    let alone = Number.NaN;
    for (const size of extent.sizes) {
      // oxlint-disable-next-line no-await-in-loop -- what runs at once would be measured together.
      const perSecond = await measure(cluster, balancer, size, extent);
      if (size === 1) alone = perSecond;
      const ratio = perSecond / alone;
      figures.push({ balancer, replicas: size, perSecond, ratio });
      console.log(
        `  ${balancer.padEnd(18)} ${size} replicas  ${ratio.toFixed(2)}  (${perSecond.toFixed(0)} queries/s)`,
      );
    }
  }
  return figures;
}

async function measure(
  cluster: Cluster,
  balancer: BalancerName,
  size: number,
  { warmUpMillis, millis }: Extent,
): Promise<number> {
  const db = await open(cluster, balancer, size);
  const begin = performance.now() + warmUpMillis;
  const end = begin + millis;
  let served = 0;
  const ask = async (): Promise<void> => {
    for (let now = 0; now < end; now = performance.now()) {
      // oxlint-disable-next-line no-await-in-loop -- whoever asks waits for the answer.
      await db.select(db.raw('pg_sleep(?)', [SERVICE_SECONDS]));
      if (performance.now() >= begin && performance.now() < end) served++;
    }
  };
  const askers = size * CONNECTIONS * QUERIES_FOR_EACH_CONNECTION;
  await Promise.all(Array.from({ length: askers }, ask));
  await db.destroy();
  return (served * 1000) / millis;
}

async function open(cluster: Cluster, balancer: BalancerName, size: number): Promise<Knex> {
  const replicas = cluster.replicas.slice(0, size);
  const db = knex({
    client: RWSplitClient,
    connection: cluster.connection(),
    pool: { min: 0, max: CONNECTIONS },
    rwSplit: {
      balancer,
      target: 'replica',
      consistency: 'eventual',
      replicas: replicas.map(({ name, host, port }) => ({ name, host, port })),
    },
  });
  await rwSplit(db).checkNow();
  return db;
}

import type { Cluster } from '../../lib/testing/index.ts';
import { pgBouncer, type PoolMode, usePgBouncers } from './pgbouncer.ts';
import { type PoolerProxies, usePoolerProxies } from './pooler-proxy.ts';

/** A pooler, and what puts it in front of each host for the tests of a file. */
export interface PoolerWay {
  readonly title: string;
  /** Whether it has clients share server connections, where that is its mode. */
  readonly shares: boolean;
  use(cluster: () => Cluster, mode: PoolMode): PoolerProxies;
}

const own: PoolerWay = {
  title: `a proxy that hands out process ids of its own${pgBouncer === undefined ? ' (without PgBouncer: it is not installed)' : ''}`,
  shares: false,
  use: (cluster) => usePoolerProxies(cluster, () => undefined, true),
};

const real: PoolerWay = {
  title: 'PgBouncer',
  shares: true,
  use: (cluster, mode) => usePoolerProxies(cluster, usePgBouncers(cluster, mode)),
};

/** The poolers that are here to be tested with. */
export const poolerWays: readonly PoolerWay[] = pgBouncer === undefined ? [own] : [own, real];

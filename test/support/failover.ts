import { beforeAll, beforeEach } from '@jest/globals';
import type { Knex } from 'knex';
import type { Cluster, ClusterOptions, TestHost } from '../../lib/testing/index.ts';
import { healCluster } from './heal-cluster.ts';
import { quickHealth } from './outage.ts';
import { useOwnCluster } from './own-cluster.ts';
import { createRoutingSchema } from './routing-schema.ts';
import { type Split, useSplit } from './split.ts';

/** What a test of a failover works with. */
export interface Failover {
  readonly cluster: () => Cluster;
  /** The first to lead, and its replicas, whoever leads at this moment. */
  readonly hosts: () => readonly [TestHost, TestHost, TestHost];
  /** A Knex instance that has opened nothing. */
  readonly cold: (config?: Knex.Config) => Split;
  /** A Knex instance with a connection to each host. */
  readonly warm: (config?: Knex.Config) => Promise<Split>;
}

/** What kind of cluster {@link useFailover} starts. */
export interface FailoverOptions extends ClusterOptions {
  /**
   * Whether what a test did is undone before the next one.
   *
   * @default true
   */
  readonly isHealed?: boolean;
}

/** Gives a test file a cluster of three, and Knex instances that watch it closely. */
export function useFailover({ isHealed = true, ...options }: FailoverOptions = {}): Failover {
  const cluster = useOwnCluster(options);
  const split = useSplit(cluster);

  beforeAll(async () => createRoutingSchema(cluster()));
  beforeEach(async () => {
    if (isHealed) await healCluster(cluster());
  });

  const configure = (config: Knex.Config = {}): Knex.Config => ({
    ...config,
    rwSplit: {
      consistency: 'eventual',
      ...config.rwSplit,
      health: { ...quickHealth, ...config.rwSplit?.health },
    },
  });
  return {
    cluster,
    hosts() {
      const [first, second, third] = cluster().hosts;
      if (!first || !second || !third) throw new Error('A failover takes three hosts.');
      return [first, second, third];
    },
    cold: (config) => split.cold(configure(config)),
    warm: (config) => split.warm(configure(config)),
  };
}

/** What an instance calls a host that is written as its primary. */
export function addressOf({ host, port }: { host: string; port: number }): string {
  return `${host}:${port}`;
}

import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Knex } from 'knex';
import type { Cluster } from '../../lib/testing/index.ts';
import { type ChaosProxy, startChaosProxy } from './chaos-proxy.ts';

/** The network between a client and each host of a cluster. */
export interface ChaosNetwork {
  /** The way to the host with a name. */
  to(name: string): ChaosProxy;
  /** What makes a Knex instance reach every host through it. */
  config(): Knex.Config;
}

/** Puts a proxy in front of each host for the tests of a file; after each of them all is well again. */
export function useChaosNetwork(cluster: () => Cluster): ChaosNetwork {
  const proxies = new Map<string, ChaosProxy>();

  const to = (name: string): ChaosProxy => {
    const proxy = proxies.get(name);
    if (proxy === undefined) throw new Error(`There is no proxy in front of "${name}".`);
    return proxy;
  };

  beforeAll(async () => {
    for (const host of cluster().hosts) proxies.set(host.name, await startChaosProxy(host));
  });

  afterEach(async () => {
    for (const proxy of proxies.values()) {
      proxy.cut();
      await proxy.pass();
    }
  });

  afterAll(async () => {
    await Promise.all([...proxies.values()].map((proxy) => proxy.stop()));
  });

  return {
    to,
    config: () => ({
      connection: { ...cluster().connection(), port: to(cluster().primary.name).port },
      rwSplit: {
        replicas: cluster().replicas.map(({ name }) => {
          const { host, port } = to(name);
          return { name, host, port };
        }),
      },
    }),
  };
}

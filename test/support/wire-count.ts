import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import type { Knex } from 'knex';
import type { Cluster, TestHost } from '../../lib/testing/index.ts';
import { endTogether } from './end-together.ts';

/** The way to each host of a cluster, on which round trips are counted. */
export interface WireCount {
  /** What makes a Knex instance reach every host through it. */
  config(): Knex.Config;
  /** How many round trips there were to each host since the last call, probes apart. */
  roundTrips(): Record<string, number>;
}

// An answer is held back, so that what the client sent before it can't be taken for a reaction to it.
const holdMillis = 10;

// What watches a host comes when it likes.
const probeMark = 'knex-rwsplit probe';

/** Puts a counting proxy in front of each host for the tests of a file. */
export function useWireCount(cluster: () => Cluster): WireCount {
  const proxies = new Map<string, Proxy>();

  const portTo = (name: string): number => {
    const proxy = proxies.get(name);
    if (proxy === undefined) throw new Error(`There is no proxy in front of "${name}".`);
    return proxy.port;
  };

  beforeAll(async () => {
    for (const host of cluster().hosts) proxies.set(host.name, await startProxy(host));
  });
  afterAll(() => {
    for (const proxy of proxies.values()) proxy.stop();
  });

  return {
    config: () => ({
      connection: { ...cluster().connection(), port: portTo(cluster().primary.name) },
      rwSplit: {
        replicas: cluster().replicas.map(({ name, host }) => ({ name, host, port: portTo(name) })),
      },
    }),
    roundTrips: () =>
      Object.fromEntries([...proxies].map(([name, proxy]) => [name, proxy.takeCount()])),
  };
}

interface Proxy {
  readonly port: number;
  takeCount(): number;
  stop(): void;
}

async function startProxy(target: TestHost): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let count = 0;

  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: target.host, port: target.port, noDelay: true });
    let isAnswered = true;
    let isProbe = false;
    client.on('data', (bytes) => {
      isProbe ||= bytes.includes(probeMark);
      if (isAnswered && !isProbe) count++;
      isAnswered = false;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      setTimeout(() => {
        isAnswered = true;
        client.write(bytes);
      }, holdMillis);
    });
    endTogether(sockets, client, upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: portOf(server),
    takeCount() {
      const taken = count;
      count = 0;
      return taken;
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The proxy does not listen.');
  return address.port;
}

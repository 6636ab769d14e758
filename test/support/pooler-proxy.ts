import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import type { Knex } from 'knex';
import type { Cluster } from '../../lib/testing/index.ts';
import type { Address } from './chaos-link.ts';
import { endTogether } from './end-together.ts';

/** The way to each host of a cluster, on which what clients send is seen. */
export interface PoolerProxies {
  /** Whether new connections to a host, or to all, get process ids that are not the server's, as of a pooler. */
  renumber(isOn: boolean, host?: string): void;
  /** What makes a Knex instance reach every host through it, with what is given under `rwSplit`. */
  config(options?: Knex.Config['rwSplit']): Knex.Config;
  /** What of all that clients sent since the last call matches a pattern. */
  sent(pattern: RegExp): string[];
}

// Above every process id that Linux gives.
const shift = 10_000_000;

const cancelCode = 80_877_102;

/**
 * Puts a proxy in front of each host for the tests of a file.
 *
 * @param address where the way to a host goes, instead of to the host itself.
 * @param isRenumbering whether it begins as one that renumbers on the way to all hosts.
 */
export function usePoolerProxies(
  cluster: () => Cluster,
  address: (host: string) => Address | undefined = () => undefined,
  isRenumbering = false,
): PoolerProxies {
  const ports = new Map<string, number>();
  const renumbered = new Set<string>();
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  let sent: Buffer[] = [];

  beforeAll(async () => {
    for (const host of cluster().hosts) {
      const { name } = host;
      const server = createServer({ noDelay: true }, (client) => {
        const upstream = connect({ ...(address(name) ?? addressOf(host)), noDelay: true });
        const isRenumbered = renumbered.has(name);
        const toServer = isRenumbered ? cancelReader() : asItIs;
        const toClient = isRenumbered ? keyReader() : asItIs;
        client.on('data', (bytes) => {
          sent.push(bytes);
          upstream.write(toServer(bytes));
        });
        upstream.on('data', (bytes) => client.write(toClient(bytes)));
        endTogether(sockets, client, upstream);
      });
      servers.push(server.listen(0, '127.0.0.1'));
      await once(server, 'listening');
      ports.set(name, portOf(server));
      if (isRenumbering) renumbered.add(name);
    }
  });
  afterAll(() => {
    for (const server of servers) server.close();
    for (const socket of sockets) socket.destroy();
  });

  return {
    renumber(isOn, host) {
      for (const name of host === undefined ? ports.keys() : [host]) {
        if (isOn) renumbered.add(name);
        else renumbered.delete(name);
      }
    },
    config: (options) => ({
      connection: { ...cluster().connection(), port: ports.get(cluster().primary.name) },
      rwSplit: {
        replicas: cluster().replicas.map(({ name, host }) => ({
          name,
          host,
          port: ports.get(name) ?? 0,
        })),
        ...options,
      },
    }),
    sent(pattern) {
      const all = Buffer.concat(sent).toString('latin1');
      sent = [];
      return all.match(pattern) ?? [];
    },
  };
}

function addressOf({ host, port }: Address): Address {
  return { host, port };
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The proxy does not listen.');
  return address.port;
}

function asItIs(bytes: Buffer): Buffer {
  return bytes;
}

/** Changes the process id in a server's BackendKeyData. */
function keyReader(): (bytes: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  let isOver = false;
  return (bytes) => {
    if (isOver) return bytes;
    rest = Buffer.concat([rest, bytes]);
    let end = 0;
    while (rest.length >= end + 5 && rest.length > end + rest.readInt32BE(end + 1)) {
      const isKey = rest.toString('latin1', end, end + 1) === 'K';
      if (isKey) {
        rest.writeInt32BE(rest.readInt32BE(end + 5) + shift, end + 5);
        isOver = true;
        return rest;
      }
      end += 1 + rest.readInt32BE(end + 1);
    }
    const whole = rest.subarray(0, end);
    rest = rest.subarray(end);
    return whole;
  };
}

/** Changes it back in a client's CancelRequest, which is the first that a connection sends, and all. */
function cancelReader(): (bytes: Buffer) => Buffer {
  let isFirst = true;
  return (bytes) => {
    const isCancel = isFirst && bytes.length === 16 && bytes.readInt32BE(4) === cancelCode;
    isFirst = false;
    if (isCancel) bytes.writeInt32BE(bytes.readInt32BE(8) - shift, 8);
    return bytes;
  };
}

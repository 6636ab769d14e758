import { createServer, connect, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import { until } from '../../lib/testing/until.ts';
import type { TestHost } from '../../lib/testing/index.ts';
import { endTogether } from './end-together.ts';

const startupCodes: Readonly<Record<number, string>> = {
  196608: 'startup',
  80877102: 'cancel request',
  80877103: 'SSL request',
};

/** A way to a server that remembers what clients send. */
export interface RecordingProxy {
  readonly port: number;
  /**
   * What each connection sent since the last call: its messages, without what differs by chance.
   *
   * Waits until all connections have ended.
   */
  recorded(): Promise<string[][]>;
}

/** Puts a recording proxy in front of a server for the tests of a file. */
export function useRecordingProxy(target: () => TestHost): () => RecordingProxy {
  let connections: string[][] = [];
  const sockets = new Set<Socket>();
  let server: Server | undefined;

  beforeAll(async () => {
    server = createServer((socket) => {
      const messages: string[] = [];
      connections.push(messages);
      const upstream = connect(target().port, target().host);
      const read = messageReader((message) => messages.push(message));
      socket.on('data', read).pipe(upstream).pipe(socket);
      endTogether(sockets, socket, upstream);
    });
    const listening = server;
    await new Promise<void>((done) => {
      listening.listen(0, '127.0.0.1', done);
    });
  });

  afterAll(() => {
    server?.close();
    for (const socket of sockets) socket.destroy();
  });

  return () => ({
    get port() {
      return portOf(server);
    },
    async recorded() {
      await until('all connections through the proxy have ended', 5000, () => sockets.size === 0);
      const recorded = connections;
      connections = [];
      return recorded;
    },
  });
}

function portOf(server: Server | undefined): number {
  const address = server?.address();
  if (typeof address !== 'object' || !address)
    throw new Error('The proxy is there only once a test runs.');
  return address.port;
}

/** Takes the messages of PostgreSQL's protocol out of the bytes that a client sends. */
function messageReader(take: (message: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  let isStarted = false;

  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      // The first message has no type.
      const start = isStarted ? 1 : 0;
      if (rest.length < start + 4) return;
      const end = start + rest.readInt32BE(start);
      if (rest.length < end) return;

      const type = isStarted
        ? rest.toString('latin1', 0, 1)
        : (startupCodes[rest.readInt32BE(4)] ?? 'unknown');
      const body = rest.toString('latin1', start + 4, end);
      // A password's proof is new each time.
      take(type === 'p' ? type : `${type} ${withoutChance(body)}`);
      rest = rest.subarray(end);
      isStarted = true;
    }
  };
}

function withoutChance(body: string): string {
  return body
    .replaceAll(/[^ -~]/g, '.')
    .replaceAll(/C_\d+/g, 'C')
    .replaceAll(/trx\d+/g, 'trx')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.+]+/g, 'time')
    .replaceAll(/(?<=\.)\d{3,}(?=\.)/g, 'pid');
}

import { once } from 'node:events';
import { createServer } from 'node:net';

/** A stand-in for a server that is gone. */
export interface DialCounter {
  /** When each connection was asked for, on the clock of `performance.now()`. */
  readonly dials: readonly number[];
  /** Frees the port. */
  stop(): Promise<void>;
}

/** Resets every connection to the port of a server that does not run, and counts them. */
export async function countDials({ host, port }: DialledAddress): Promise<DialCounter> {
  const dials: number[] = [];
  const listener = createServer((socket) => {
    dials.push(performance.now());
    socket.on('error', () => undefined);
    socket.resetAndDestroy();
  });
  listener.unref();
  listener.listen(port, host);
  await once(listener, 'listening');
  return {
    dials,
    async stop() {
      listener.close();
      await once(listener, 'close');
    },
  };
}

interface DialledAddress {
  readonly host: string;
  readonly port: number;
}

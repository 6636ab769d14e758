import { randomInt } from 'crypto';
import { once } from 'events';
import { createServer, type Server } from 'net';

/** Free ports of the loopback address, kept from everybody else until they are released. */
export class PortReservation {
  readonly ports: readonly number[];
  readonly #listeners: ReadonlyMap<number, Server>;

  private constructor(listeners: ReadonlyMap<number, Server>) {
    this.ports = [...listeners.keys()];
    this.#listeners = listeners;
  }

  static async make(count: number): Promise<PortReservation> {
    const listeners = new Map<number, Server>();
    while (listeners.size < count) {
      // Below the ranges that systems take outgoing ports from: else the port of a killed server
      // could be gone when it starts again.
      const port = randomInt(15_000, 32_000);
      const listener = await listen(port);
      if (listener !== undefined) listeners.set(port, listener);
    }
    return new PortReservation(listeners);
  }

  /** Frees the ports for those that they were reserved for. */
  async release(): Promise<void> {
    await Promise.all(
      [...this.#listeners.values()].map(
        (listener) =>
          new Promise((resolve) => {
            listener.close(resolve);
          }),
      ),
    );
  }
}

async function listen(port: number): Promise<Server | undefined> {
  const listener = createServer();
  try {
    listener.listen(port, '127.0.0.1');
    await once(listener, 'listening');
    return listener;
  } catch {
    return undefined;
  }
}

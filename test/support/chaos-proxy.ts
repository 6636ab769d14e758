import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { PortReservation } from '../../lib/testing/port-reservation.ts';
import { until } from '../../lib/testing/until.ts';
import { type Address, ChaosLink } from './chaos-link.ts';

const stopMillis = 5000;

/**
 * A way to a server on which a network's misfortunes happen at will; it keeps no process alive.
 *
 * A server that refuses is seen through it as a connection that is accepted and then reset.
 */
export class ChaosProxy {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly #links = new Set<ChaosLink>();
  #target: Address;
  #listener: Server | undefined;
  #delayMillis = 0;
  #swallows = false;

  /** Listens only once it is told to {@link accept}. */
  constructor(port: number, target: Address) {
    this.port = port;
    this.#target = target;
  }

  /** How many connections are open, black-holed ones included, even if their clients left. */
  get connections(): number {
    return this.#links.size;
  }

  /** Resets every open connection at both of its ends. */
  cut(): void {
    for (const link of this.#links) link.cut();
  }

  /** Has new connections refused with ECONNREFUSED; open ones go on. */
  refuse(): void {
    this.#listener?.close();
    this.#listener = undefined;
  }

  /** Ends {@link refuse}, on the same port. */
  async accept(): Promise<void> {
    if (this.#listener !== undefined) return;

    // Half-open, so that a client's end reaches the server only where it is passed on.
    const listener = createServer({ allowHalfOpen: true }, (client) => {
      const target = this.#swallows ? undefined : this.#target;
      const link = new ChaosLink(
        client,
        target,
        () => this.#delayMillis,
        () => this.#links.delete(link),
      );
      this.#links.add(link);
    });
    this.#listener = listener;
    listener.unref();
    listener.listen(this.port, this.host);
    await once(listener, 'listening');
  }

  /**
   * Swallows what is sent in either direction, on open connections and on new ones, which are
   * accepted. Nothing is closed, and neither side learns that the other closed.
   */
  blackHole(): void {
    this.#swallows = true;
    this.blackHoleEstablished();
  }

  /** Does that to the connections open at this moment, for good; new ones pass. */
  blackHoleEstablished(): void {
    for (const link of this.#links) link.silence();
  }

  /** Holds each chunk back that long, in each direction: a round trip takes twice as much longer. */
  delay(millis: number): void {
    this.#delayMillis = millis;
  }

  /** Lets new connections through, without delay; black-holed ones stay so. */
  async pass(): Promise<void> {
    this.#swallows = false;
    this.#delayMillis = 0;
    await this.accept();
  }

  /** Sends new connections to another server, as a name does that was pointed elsewhere. */
  retarget({ host, port }: Address): void {
    this.#target = { host, port };
  }

  /** Ends every connection, and leaves nothing open. */
  async stop(): Promise<void> {
    this.refuse();
    await until('the proxy has no connections', stopMillis, () => {
      // One that was accepted just before is told of only after the listener was closed.
      this.cut();
      return this.#links.size === 0;
    });
  }
}

/** Starts a proxy in front of a server, on a port of its own that lets everything pass. */
export async function startChaosProxy({ host, port }: Address): Promise<ChaosProxy> {
  // A port that no outgoing connection is given while the proxy refuses.
  const reservation = await PortReservation.make(1);
  await reservation.release();
  const proxy = new ChaosProxy(reservation.ports[0] ?? 0, { host, port });
  await proxy.accept();
  return proxy;
}

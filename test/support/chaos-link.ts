import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** One client's connection to a proxy, and the proxy's own to the server. */
export class ChaosLink {
  readonly #ends: readonly Socket[];
  readonly #delayMillis: () => number;
  #isSilent = false;

  /** Without a target nothing reaches any server. */
  constructor(
    client: Socket,
    target: Address | undefined,
    delayMillis: () => number,
    onEnd: () => void,
  ) {
    this.#delayMillis = delayMillis;
    const upstream = target && connect({ ...target, allowHalfOpen: true });
    this.#ends = upstream === undefined ? [client] : [client, upstream];
    let open = this.#ends.length;

    for (const end of this.#ends) {
      end.unref();
      end.setNoDelay(true);
      end.on('error', () => undefined);
      end.on('close', (hadError) => {
        if (hadError && !this.#isSilent) this.cut();
        if (--open === 0) onEnd();
      });
    }
    if (upstream === undefined) {
      this.silence();
    } else {
      this.#forward(client, upstream);
      this.#forward(upstream, client);
    }
  }

  /** Swallows whatever either end sends from here on, its end included, and closes nothing. */
  silence(): void {
    this.#isSilent = true;
    for (const end of this.#ends) end.resume();
  }

  /** Resets both ends. */
  cut(): void {
    for (const end of this.#ends) {
      if (end.connecting) end.destroy();
      else end.resetAndDestroy();
    }
  }

  #forward(from: Socket, to: Socket): void {
    let previous: Promise<void> = Promise.resolve();
    // One after the other, so that a shorter delay never lets a chunk overtake.
    const deliver = (what: () => void): void => {
      previous = this.#deliver(previous, performance.now() + this.#delayMillis(), what);
    };

    from.on('data', (bytes) =>
      deliver(() => {
        if (to.write(bytes)) return;
        from.pause();
        to.once('drain', () => from.resume());
      }),
    );
    from.on('end', () => deliver(() => to.end()));
  }

  async #deliver(previous: Promise<void>, due: number, what: () => void): Promise<void> {
    await previous;
    const left = due - performance.now();
    if (left > 0) await sleep(left, undefined, { ref: false });
    if (!this.#isSilent) what();
  }
}

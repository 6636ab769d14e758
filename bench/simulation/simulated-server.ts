import type { Clock } from '../../lib/clock.ts';
import type { Draws } from './draws.ts';
import { SimulatedConnection } from './simulated-connection.ts';

/** What a server does: it works, refuses connections as one that isn't running, or has stopped to answer. */
export type Conduct = 'works' | 'refuses' | 'hangs';

/** How long a query takes on a server that has time for it, in milliseconds: the median and how it varies. */
export const service: { readonly median: number; readonly sigma: number } = {
  median: 40,
  sigma: 0.8,
};

/** What a query takes in the mean, in milliseconds. */
export const meanService: number = service.median * Math.exp(service.sigma ** 2 / 2);

// The way there and back, and what a probe or a dial takes besides.
const NETWORK_MILLIS = 1;

/** A server that runs a few queries at a time, while others wait for their turn. */
export class SimulatedServer {
  readonly #clock: Clock;
  readonly #draws: Draws;
  readonly #slots: number;
  readonly #connections = new Set<SimulatedConnection>();
  #conduct: Conduct = 'works';
  /** Counts what cuts off all that was going on. */
  #era = 0;
  #busy = 0;
  #waiting: (() => void)[] = [];
  /** How many times as long as usual a query takes. */
  slowness = 1;
  #given = 0;
  #mostAtOnce = 0;

  /** @param slots how many queries it works on at a time. */
  constructor(clock: Clock, draws: Draws, slots: number) {
    this.#clock = clock;
    this.#draws = draws;
    this.#slots = slots;
  }

  /** How many queries it was given since the count began. */
  get given(): number {
    return this.#given;
  }

  /** How many queries were there at a time, at most, since the count began. */
  get mostAtOnce(): number {
    return this.#mostAtOnce;
  }

  get conduct(): Conduct {
    return this.#conduct;
  }

  set conduct(conduct: Conduct) {
    this.#conduct = conduct;
    this.#era++;
    this.#busy = 0;
    this.#waiting = [];
    if (conduct === 'hangs') return;
    // A process that ends takes its connections with it, as does a machine that starts again.
    for (const connection of this.#connections) connection.end(networkError('read ECONNRESET'));
  }

  /** Opens a connection. */
  async dial(
    onConnection: (connection: SimulatedConnection) => void,
  ): Promise<SimulatedConnection> {
    const connection: SimulatedConnection = new SimulatedConnection(() =>
      this.#connections.delete(connection),
    );
    this.#connections.add(connection);
    onConnection(connection);
    return connection.wait((opened) => {
      this.#clock.after(NETWORK_MILLIS, () => {
        if (this.#conduct === 'works') opened(connection);
        if (this.#conduct === 'refuses') connection.end(networkError('connect ECONNREFUSED'));
      });
    });
  }

  /** Answers something that takes no time. */
  answer(connection: SimulatedConnection): Promise<void> {
    return connection.wait((answered) => {
      this.#clock.after(NETWORK_MILLIS, () => {
        if (this.#conduct === 'works') answered();
      });
    });
  }

  /** Runs a query. */
  query(connection: SimulatedConnection): Promise<void> {
    this.#given++;
    const era = this.#era;
    return connection.wait((answered) => {
      this.#waiting.push(() => {
        const millis = this.#draws.lognormal(service.median, service.sigma) * this.slowness;
        this.#clock.after(millis, () => {
          if (era !== this.#era) return;
          answered();
          this.#busy--;
          this.#work();
        });
      });
      this.#mostAtOnce = Math.max(this.#mostAtOnce, this.#present);
      this.#work();
    });
  }

  /** Begins to count anew. */
  beginCount(): void {
    this.#given = 0;
    this.#mostAtOnce = this.#present;
  }

  get #present(): number {
    return this.#busy + this.#waiting.length;
  }

  #work(): void {
    if (this.#conduct !== 'works' || this.#busy >= this.#slots) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#busy++;
    next();
  }
}

function networkError(message: string): Error {
  return Object.assign(new Error(message), { code: message.split(' ')[1] });
}

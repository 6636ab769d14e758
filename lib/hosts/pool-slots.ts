import type { Clock } from '../clock.ts';
import type { PoolSettings } from './pool-settings.ts';
import type { ServerSlot } from './server-slot.ts';

// tarn's own.
const CREATE_MILLIS = 30_000;

/** The places that the connections of one pool have in the budget of their server. */
export class PoolSlots<C extends object> {
  readonly #settings: PoolSettings<C>;
  readonly #clock: Clock;
  readonly #granted: ServerSlot[] = [];
  readonly #opening = new Set<ServerSlot>();
  readonly #slots = new WeakMap<C, ServerSlot>();

  constructor(settings: PoolSettings<C>, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Takes in the place of the connection that is opened next. */
  grant(slot: ServerSlot): void {
    this.#granted.push(slot);
  }

  /** Opens a connection in its place, which it loses when that takes too long. */
  async create(): Promise<C> {
    const slot = this.#granted.shift();
    if (slot === undefined) return this.#settings.create();

    this.#opening.add(slot);
    // tarn goes on without it then, and what opens it may never tell.
    const millis = this.#settings.createTimeoutMillis ?? CREATE_MILLIS;
    const stopWaiting = this.#clock.after(millis, () => slot.giveUp());
    try {
      const connection = await this.#settings.create(slot);
      this.#slots.set(connection, slot);
      slot.opened();
      return connection;
    } catch (error) {
      slot.over();
      throw error;
    } finally {
      stopWaiting();
      this.#opening.delete(slot);
    }
  }

  /** Ends a connection, and then its place. */
  async destroy(connection: C): Promise<void> {
    this.closing(connection);
    try {
      await this.#settings.destroy(connection);
    } finally {
      this.#slots.get(connection)?.over();
    }
  }

  /** Notes that a connection is being ended. */
  closing(connection: C): void {
    this.#slots.get(connection)?.closing();
  }

  /** Whether a connection has a place: one that its server has closed has none. */
  has(connection: C): boolean {
    return this.#slots.get(connection)?.isFree === false;
  }

  /** Waits no longer for connections that are yet to be open. */
  giveUp(): void {
    for (const slot of this.#opening) slot.giveUp();
  }
}

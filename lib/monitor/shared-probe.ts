import type { Clock } from '../clock.ts';
import type { DialProbe, ProbeOutcome } from './probe.ts';
import { Probe } from './probe.ts';
import type { DatedOutcome, ProbePlace } from './probe-place.ts';

/** What watches a host. */
export interface Prober {
  /**
   * Asks the server once, within a time; an answer may be another client's that began at `since` or
   * later. Undefined where it could not ask, and nothing was learnt.
   */
  run(timeoutMillis: number, since: number): Promise<ProbeOutcome | undefined>;
  ask: Probe['ask'];
  renew: Probe['renew'];
  destroy: Probe['destroy'];
}

// Others that want a new connection are served by the one that was dialled a moment ago.
const RENEWED_MILLIS = 1000;

/**
 * A client's probe of a server that many clients share a budget of: all of them use one connection,
 * and what one is told of the server, the others are told, too.
 */
export class SharedProbe implements Prober {
  readonly onLost: () => void;
  readonly #probe: Probe;
  readonly #place: ProbePlace;
  readonly #clock: Clock;
  #dialsSeen = 0;
  #isDestroyed = false;

  /** @param onLost told when the connection is lost between probes, whoever's it is. */
  constructor(dial: DialProbe, clock: Clock, onLost: () => void, place: ProbePlace) {
    this.onLost = onLost;
    this.#probe = new Probe(dial, clock, () => place.noteLost());
    this.#place = place;
    this.#clock = clock;
    place.join(this);
  }

  async run(timeoutMillis: number, since: number): Promise<ProbeOutcome | undefined> {
    const place = this.#place;
    const known = place.foundSince(since, timeoutMillis);
    if (known !== undefined) return this.#seen(known);
    const told = await this.#inTurn(timeoutMillis, since, async () => {
      const meanwhile = place.foundSince(since, timeoutMillis);
      if (meanwhile !== undefined) return this.#seen(meanwhile);
      const { holder } = place;
      if (holder !== undefined && holder !== this && place.isOneServer) {
        const found = await holder.#lookOpen(timeoutMillis);
        if (found !== undefined && place.note(found, timeoutMillis)) return this.#seen(found);
      }
      const own = await this.#lookSelf(timeoutMillis);
      return own && this.#seen(own);
    });
    const late = told === undefined ? place.foundSince(since, timeoutMillis) : undefined;
    return late === undefined ? told : this.#seen(late);
  }

  /** As {@link Probe.ask}: what a client asks of its own sessions, others may not be told. */
  async ask<Row>(
    text: string,
    values: readonly unknown[],
    timeoutMillis: number,
  ): Promise<readonly Row[] | undefined> {
    return this.#inTurn(timeoutMillis, this.#clock.now(), async () => {
      if (this.#place.holder !== this) await this.#lookSelf(timeoutMillis);
      return this.#probe.ask<Row>(text, values, timeoutMillis);
    });
  }

  /** As {@link Probe.renew}, but not beside the open connection, for which there is no place. */
  async renew(timeoutMillis: number): Promise<boolean> {
    const place = this.#place;
    const isRenewed = await this.#inTurn(timeoutMillis, this.#clock.now(), async () => {
      const { holder } = place;
      if (holder === undefined) return false;
      const now = this.#clock.now();
      if (now - place.renewedAt < RENEWED_MILLIS) return true;
      place.renewedAt = now;
      holder.rest();
      return place.budget.probes.whenClosed(timeoutMillis);
    });
    return isRenewed === true;
  }

  /** Ends its connection, so that another one may be opened. */
  rest(): void {
    this.#probe.rest();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#place.leave(this);
    this.#probe.destroy();
  }

  // Whoever else has the place may be slow to log in: it is asked only by a connection that is open.
  async #lookOpen(timeoutMillis: number): Promise<DatedOutcome | undefined> {
    const at = this.#clock.now();
    const outcome = await this.#probe.runOpen(timeoutMillis);
    return outcome && { at, outcome };
  }

  async #lookSelf(timeoutMillis: number): Promise<DatedOutcome | undefined> {
    if (!(await this.#takeOver(timeoutMillis))) return undefined;
    const at = this.#clock.now();
    const own = { at, outcome: await this.#probe.run(timeoutMillis) };
    this.#place.note(own, timeoutMillis);
    return own;
  }

  async #takeOver(timeoutMillis: number): Promise<boolean> {
    const place = this.#place;
    if (place.holder !== this) place.holder?.rest();
    // Its own, too, where that was lost and the server has yet to notice.
    const isOpen = place.holder === this && this.#probe.isOpen;
    if (!isOpen && !(await place.budget.probes.whenClosed(timeoutMillis))) return false;
    if (this.#isDestroyed) return false;
    place.holder = this;
    return true;
  }

  async #inTurn<T>(millis: number, since: number, work: () => Promise<T>): Promise<T | undefined> {
    if (!(await this.#place.take(millis, since))) return undefined;
    try {
      return this.#isDestroyed ? undefined : await work();
    } finally {
      this.#place.giveBack();
    }
  }

  #seen({ outcome, at }: DatedOutcome): ProbeOutcome {
    if (!outcome.isGood) return { ...outcome, at };
    const isNewConnection = this.#place.dials > this.#dialsSeen;
    this.#dialsSeen = this.#place.dials;
    return { ...outcome, isNewConnection, at };
  }
}

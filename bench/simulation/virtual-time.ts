import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';
import { EventQueue } from './event-queue.ts';

/** A timer as Node gives it out, as far as anybody here uses one. */
interface VirtualTimer {
  unref(): VirtualTimer;
  cancel(): void;
}

const cancel = (timer: VirtualTimer | undefined): void => timer?.cancel();

// Not 0, which some take for "no time".
const BEGIN = 1;

/** Time that passes only as fast as what happens in it is worked off, and the same in every run. */
export class VirtualTime implements Clock {
  readonly #events: EventQueue = new EventQueue();
  #now = BEGIN;

  now(): number {
    return this.#now;
  }

  after(millis: number, callback: () => void): () => void {
    // As Node's timers: not a number counts as the shortest time.
    const event = this.#events.add(this.#now + Math.max(0, millis || 0), callback);
    return () => {
      event.run = undefined;
    };
  }

  holdFor(millis: number, callback: () => void): () => void {
    return this.after(millis, callback);
  }

  /** Lets time pass up to a moment, and everything happen that is due, with all that follows from it. */
  async runUntil(moment: number): Promise<void> {
    for (let at = this.#events.nextAt; at !== undefined && at <= moment; at = this.#events.nextAt) {
      const event = this.#events.take();
      if (event?.run === undefined) continue;
      this.#now = event.at;
      event.run();
      // Promises that are settled by it come before what is next.
      await turn();
    }
    this.#now = Math.max(this.#now, moment);
  }

  /**
   * Puts the timers and the clocks of the process, which libraries use, in this time.
   *
   * @returns what puts them back.
   */
  install(): () => void {
    const start =
      (repeats: boolean) =>
      (callback: (...args: unknown[]) => void, millis: number, ...args: unknown[]) =>
        this.#start(() => callback(...args), millis, repeats);
    const virtual = {
      setTimeout: start(false),
      setInterval: start(true),
      setImmediate: (callback: (...args: unknown[]) => void, ...args: unknown[]) =>
        this.#start(() => callback(...args), 0, false),
      clearTimeout: cancel,
      clearInterval: cancel,
      clearImmediate: cancel,
    };
    const now = (): number => this.#now;
    return joined([
      replace(globalThis, virtual),
      replace(Date, { now }),
      replace(performance, { now }),
    ]);
  }

  #start(callback: () => void, millis: number, repeats: boolean): VirtualTimer {
    let cancel: () => void;
    const run = (): void => {
      if (repeats) cancel = this.after(millis, run);
      callback();
    };
    cancel = this.after(millis, run);
    const timer: VirtualTimer = { unref: () => timer, cancel: () => cancel() };
    return timer;
  }
}

function replace(owner: object, members: Readonly<Record<string, unknown>>): () => void {
  const former = Object.keys(members).map((name): [string, unknown] => [
    name,
    Reflect.get(owner, name),
  ]);
  Object.assign(owner, members);
  return () => void Object.assign(owner, Object.fromEntries(former));
}

function joined(undo: readonly (() => void)[]): () => void {
  return () => {
    for (const each of undo) each();
  };
}

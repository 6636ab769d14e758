import { setImmediate as turn } from 'node:timers/promises';
import type { Host } from '../../lib/hosts/host.ts';
import type { DialProbe } from '../../lib/monitor/probe-client.ts';
import type { FakeClock } from './fake-clock.ts';
import { FakeProbeClient } from './fake-probe-client.ts';

/** What a server without a network does when a probe comes: an error is what it ends the dial with. */
export type Conduct = 'primary' | 'replica' | 'hang' | Error;

/** The servers behind the hosts of a cluster, as far as probes meet them. */
export class FakeServers {
  /** By the name of the host. */
  readonly conduct: Map<string, Conduct> = new Map();
  /** When probes asked or dialled, by the name of the host. */
  readonly asked: Map<string, readonly number[]> = new Map();
  readonly clients: FakeProbeClient[] = [];
  /** What ends each further dial; what is open goes on. */
  refuseDials: Error | undefined;
  readonly #clock: FakeClock;
  #held: (() => void)[] | undefined;

  constructor(clock: FakeClock, conduct: Readonly<Record<string, Conduct>>) {
    this.#clock = clock;
    for (const [name, what] of Object.entries(conduct)) this.conduct.set(name, what);
  }

  /** Has answers wait until the returned function is called. */
  hold(): () => void {
    const held: (() => void)[] = [];
    this.#held = held;
    return () => {
      this.#held = undefined;
      for (const answer of held) answer();
    };
  }

  /** When the host was probed. */
  probesOf(name: string): readonly number[] {
    return this.asked.get(name) ?? [];
  }

  /** Opens the probes' connections to a host. */
  readonly dialer =
    ({ name }: Host): DialProbe =>
    async (onClient) => {
      const client = new FakeProbeClient(async () => {
        // What follows for lack of an answer to the first part is of the same probe.
        if (this.probesOf(name).at(-1) !== this.#clock.now()) this.#note(name);
        const held = this.#held;
        if (held !== undefined) await new Promise<void>((resolve) => held.push(resolve));
        return { rows: [await this.#answer(name)] };
      });
      this.clients.push(client);
      onClient(client);
      if (this.refuseDials !== undefined) throw this.refuseDials;
      const now = this.conduct.get(name);
      if (now instanceof Error) {
        this.#note(name);
        throw now;
      }
      return client;
    };

  #note(name: string): void {
    this.asked.set(name, [...this.probesOf(name), this.#clock.now()]);
  }

  async #answer(name: string): Promise<object> {
    const now = this.conduct.get(name);
    if (now === 'hang') return new Promise(() => undefined);
    if (now instanceof Error) throw now;
    return { isInRecovery: now === 'replica' ? 't' : 'f', processId: '7' };
  }
}

/** Lets time pass in small steps, so that what it sets off happens in between. */
export async function pass(clock: FakeClock, millis: number, step: number = 10): Promise<void> {
  for (let left = millis; left > 0; left -= step) {
    clock.advance(Math.min(step, left));
    // A probe's time-out waits for one turn more, and so does what follows it.
    await settle();
  }
}

/** Lets happen what needs no time. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 4; i++) await turn();
}

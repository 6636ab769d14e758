import type { Clock } from '../clock.ts';
import { asError } from '../errors.ts';
import type { DialProbe } from './probe-client.ts';
import { ProbeConnection } from './probe-connection.ts';
import type { ProbeOutcome } from './probe-outcome.ts';
import { failure } from './probe-outcome.ts';
import { withinTime } from './within-time.ts';

export type { DialProbe, ProbeClient } from './probe-client.ts';
export type { ProbeOutcome } from './probe-outcome.ts';

// How long a function that gives the settings of a connection may take.
const PREPARE_MILLIS = 5000;

/** Watches one host over one connection of its own, kept open between probes. */
export class Probe {
  readonly #dial: DialProbe;
  readonly #clock: Clock;
  readonly #onLost: () => void;
  readonly #ending: AbortController = new AbortController();
  #connection: ProbeConnection | undefined;
  #running: Promise<ProbeOutcome> | undefined;
  #renewing: Promise<boolean> | undefined;
  readonly #hasReported = new WeakSet<ProbeConnection>();

  /** @param onLost told when the connection is lost between probes: a reason to look at once. */
  constructor(dial: DialProbe, clock: Clock, onLost: () => void = () => undefined) {
    this.#dial = dial;
    this.#clock = clock;
    this.#onLost = onLost;
  }

  /**
   * Asks the server once, within a time; calls while one is running share it.
   *
   * Never rejects. The time is longer only where the process itself was held up, and where the
   * application has to be asked for the settings of a new connection.
   */
  run(timeoutMillis: number): Promise<ProbeOutcome> {
    this.#running ??= this.#run(timeoutMillis).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /**
   * Runs a further statement on the open connection, after the probe that is running.
   *
   * @returns its rows; undefined where there is no open connection, or no answer in time.
   */
  async ask<Row>(
    text: string,
    values: readonly unknown[],
    timeoutMillis: number,
  ): Promise<readonly Row[] | undefined> {
    let asked: ProbeConnection | undefined;
    const asking = async (): Promise<readonly Row[] | undefined> => {
      await this.#running;
      if (this.#connection?.isOpen !== true) return undefined;
      asked = this.#connection;
      const result = await asked.query({ text, values });
      // The caller knows what it asks for.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return result?.rows as readonly Row[] | undefined;
    };
    try {
      const rows = await withinTime(asking(), timeoutMillis, this.#clock, this.#ending.signal);
      // Without rows its time was up: the connection is stuck behind the statement.
      if (rows === undefined) asked?.destroy();
      return rows;
    } catch {
      return undefined;
    }
  }

  /**
   * Dials anew beside the open connection, whose name may stand for another server by now, and
   * changes over to the new connection; keeps the old one where that does not open in time.
   *
   * @returns whether it changed over; false, too, where none is open and the next probe dials anyway.
   */
  renew(timeoutMillis: number): Promise<boolean> {
    this.#renewing ??= this.#renew(timeoutMillis).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** Whether its connection is open. */
  get isOpen(): boolean {
    return this.#connection?.isOpen === true;
  }

  /** Ends the connection; the next probe dials anew. */
  rest(): void {
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  /** Ends the connection, and what is running, at once. */
  destroy(): void {
    this.#ending.abort();
    this.rest();
  }

  /** As {@link Probe.run}, but undefined where there is no open connection to ask by, or that is lost. */
  async runOpen(timeoutMillis: number): Promise<ProbeOutcome | undefined> {
    const kept = this.#connection;
    if (kept?.isOpen !== true) return undefined;

    const outcome = await this.#within(timeoutMillis, () => this.#report(kept));
    // The connection may have ended without the server, as by an idle timeout: a new one tells.
    return outcome.isGood || outcome.isTimeout ? outcome : undefined;
  }

  async #run(timeoutMillis: number): Promise<ProbeOutcome> {
    const found = await this.runOpen(timeoutMillis);
    if (found !== undefined) return found;
    if (this.#ending.signal.aborted) return failure(new Error('The probe was destroyed.'));
    try {
      await this.#prepare();
    } catch (error) {
      return { ...failure(asError(error)), isOfApplication: true };
    }
    return this.#within(timeoutMillis, async () => {
      const fresh = this.#dialled();
      this.#connection = fresh;
      await fresh.open();
      return this.#report(fresh);
    });
  }

  async #report(connection: ProbeConnection): Promise<ProbeOutcome> {
    const report = await connection.report();
    const isNewConnection = !this.#hasReported.has(connection);
    this.#hasReported.add(connection);
    return { isGood: true, report, isNewConnection };
  }

  async #within(millis: number, look: () => Promise<ProbeOutcome>): Promise<ProbeOutcome> {
    const { signal } = this.#ending;
    if (signal.aborted) return failure(new Error('The probe was destroyed.'));
    try {
      const outcome = await withinTime(look(), millis, this.#clock, signal);
      if (outcome !== undefined) return outcome;

      const silentMillis = this.#connection?.silentMillis;
      this.rest();
      if (signal.aborted) return failure(new Error('The probe was destroyed.'));
      return {
        ...failure(new Error(`The probe had no answer within ${millis} ms.`)),
        isTimeout: true,
        silentMillis,
      };
    } catch (error) {
      const silentMillis = this.#connection?.silentMillis;
      this.rest();
      return { ...failure(asError(error)), silentMillis };
    }
  }

  async #prepare(): Promise<void> {
    const { prepare, prepareMillis = PREPARE_MILLIS } = this.#dial;
    if (prepare === undefined) return;

    const millis = Math.min(PREPARE_MILLIS, prepareMillis);
    const ready = prepare().then(() => true);
    if ((await withinTime(ready, millis, this.#clock, this.#ending.signal)) === true) return;
    throw new Error(`The connection function did not answer within ${millis} ms.`);
  }

  async #renew(timeoutMillis: number): Promise<boolean> {
    if (this.#connection?.isOpen !== true) return false;

    const { signal } = this.#ending;
    const fresh = this.#dialled();
    try {
      await this.#prepare();
      if (signal.aborted) return false;
      await withinTime(fresh.open(), timeoutMillis, this.#clock, signal);
      // What a probe is asking is asked on the old one; another may begin as one ends.
      // oxlint-disable-next-line no-await-in-loop -- as above.
      while (this.#running !== undefined) await this.#running;
      if (fresh.isOpen && !signal.aborted) {
        this.rest();
        this.#connection = fresh;
        return true;
      }
    } catch {
      // The old connection is as good as before; what the pool meets, it tells.
    }
    fresh.destroy();
    return false;
  }

  #dialled(): ProbeConnection {
    return new ProbeConnection(this.#dial, this.#onLost, this.#clock);
  }
}

import type { Clock } from '../clock.ts';
import { asError } from '../errors.ts';
import type { ServerReport } from '../hosts/server-report.ts';
import type { DialProbe } from './probe-client.ts';
import { ProbeConnection } from './probe-connection.ts';
import { withinTime } from './within-time.ts';

export type { DialProbe, ProbeClient } from './probe-client.ts';

/** What a probe found: a report, or why there is none. */
export type ProbeOutcome =
  | { readonly isGood: true; readonly report: ServerReport; readonly isNewConnection: boolean }
  | { readonly isGood: false; readonly error: Error; readonly isTimeout: boolean };

/** Watches one host over one connection of its own, kept open between probes. */
export class Probe {
  readonly #dial: DialProbe;
  readonly #clock: Clock;
  readonly #onLost: () => void;
  readonly #ending: AbortController = new AbortController();
  #connection: ProbeConnection | undefined;
  #running: Promise<ProbeOutcome> | undefined;
  #mustRedial = false;

  /** @param onLost told when the connection is lost between probes: a reason to look at once. */
  constructor(dial: DialProbe, clock: Clock, onLost: () => void = () => undefined) {
    this.#dial = dial;
    this.#clock = clock;
    this.#onLost = onLost;
  }

  /**
   * Asks the server once, within a time for everything; calls while one is running share it.
   *
   * Never rejects. The time is longer only where the process itself was held up.
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

  /** Has the next probe dial anew: its host's name may stand for another server by then. */
  hangUp(): void {
    this.#mustRedial = true;
  }

  /** Ends the connection, and what is running, at once. */
  destroy(): void {
    this.#ending.abort();
    this.#drop();
  }

  async #run(timeoutMillis: number): Promise<ProbeOutcome> {
    const { signal } = this.#ending;
    if (signal.aborted) return failure(new Error('The probe was destroyed.'));
    try {
      const outcome = await withinTime(this.#look(), timeoutMillis, this.#clock, signal);
      if (outcome !== undefined) return outcome;

      this.#drop();
      if (signal.aborted) return failure(new Error('The probe was destroyed.'));
      return failure(new Error(`The probe had no answer within ${timeoutMillis} ms.`), true);
    } catch (error) {
      this.#drop();
      return failure(asError(error));
    }
  }

  async #look(): Promise<ProbeOutcome> {
    if (this.#mustRedial) this.#drop();
    this.#mustRedial = false;
    const kept = this.#connection;
    if (kept?.isOpen === true) {
      try {
        return { isGood: true, report: await kept.report(), isNewConnection: false };
      } catch (error) {
        if (this.#connection !== kept) throw error;
        // The connection may have ended without the server, as by an idle timeout: a new one tells.
        kept.destroy();
      }
    }
    const fresh = new ProbeConnection(this.#dial, this.#onLost);
    this.#connection = fresh;
    await fresh.open();
    return { isGood: true, report: await fresh.report(), isNewConnection: true };
  }

  #drop(): void {
    this.#connection?.destroy();
    this.#connection = undefined;
  }
}

function failure(error: Error, isTimeout = false): ProbeOutcome {
  return { isGood: false, error, isTimeout };
}

import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { asError } from '../errors.ts';
import type { ServerReport } from '../hosts/server-report.ts';
import type { DialProbe, ProbeClient, ProbeQuery, ProbeResult } from './probe-client.ts';
import { ProbeStatement } from './probe-statement.ts';
import { readReport } from './read-report.ts';

type State = 'dialling' | 'open' | 'lost' | 'destroyed';

/** A probe's connection to its host, from the dial to the end; once it is lost, another is needed. */
export class ProbeConnection {
  readonly #dial: DialProbe;
  readonly #onLost: () => void;
  readonly #clock: Clock;
  readonly #statement: ProbeStatement = new ProbeStatement((query) => this.query(query));
  #client: ProbeClient | undefined;
  #state: State = 'dialling';
  #running = 0;
  /** Since when the server owes an answer, and what it had sent until then. */
  #asked: { readonly at: number; readonly bytes: number } | undefined;
  /** Ends when the statement sent last has ended. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param onLost told when the open connection is lost while nothing runs on it. */
  constructor(dial: DialProbe, onLost: () => void, clock: Clock = systemClock) {
    this.#dial = dial;
    this.#onLost = onLost;
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /**
   * For how long the server has been asked for something and has sent not one byte.
   *
   * Undefined where it has sent any, as a question for the password; and where it wasn't reached yet.
   */
  get silentMillis(): number | undefined {
    const bytes = this.#bytesRead;
    if (this.#asked === undefined || bytes !== this.#asked.bytes) return undefined;
    return this.#clock.now() - this.#asked.at;
  }

  /** Dials. */
  async open(): Promise<void> {
    const client = await this.#dial((made) => this.#adopt(made));
    this.#adopt(client);
    if (this.#state !== 'dialling') throw new Error('The connection was lost as it opened.');
    this.#state = 'open';
  }

  /** Asks the server for all that it tells of itself. */
  async report(): Promise<ServerReport> {
    const answers = await this.#statement.ask();
    return readReport(answers, this.#client?.processID ?? null);
  }

  /** Runs one text behind those that run already; of several statements, answers with the last one's result. */
  query(query: ProbeQuery): Promise<ProbeResult | undefined> {
    // pg warns of a statement that is given while another one runs.
    const result = this.#last.then(() => this.#send(query));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Ends the connection, or the dial, at once. */
  destroy(): void {
    const wasIdle = this.#state === 'open' && this.#running === 0;
    this.#state = 'destroyed';
    if (this.#client === undefined) return;
    if (wasIdle && this.#dial.isCounted === true) endGently(this.#client);
    else endClient(this.#client, wasIdle);
  }

  // The driver hands its client over twice: when it is made, and when it is connected.
  #adopt(client: ProbeClient): void {
    if (this.#state === 'destroyed') {
      endClient(client, false);
      throw new Error('The probe gave up before its connection was made.');
    }
    if (client === this.#client) return;

    this.#client = client;
    this.#noteAsked();
    client.on('error', () => this.#lose());
    client.on('end', () => this.#lose());
    quieten(client);
    // The upgrade to TLS puts another socket in the place of the first.
    client.connection?.on?.('sslconnect', () => quieten(client));
  }

  get #bytesRead(): number | undefined {
    return this.#client?.connection?.stream.bytesRead;
  }

  #noteAsked(): void {
    const bytes = this.#bytesRead;
    this.#asked = bytes === undefined ? undefined : { at: this.#clock.now(), bytes };
  }

  #lose(): void {
    if (this.#state === 'lost' || this.#state === 'destroyed') return;

    const wasIdle = this.#state === 'open' && this.#running === 0;
    this.#state = 'lost';
    if (this.#client !== undefined) endClient(this.#client, false);
    if (wasIdle) this.#onLost();
  }

  async #send(query: ProbeQuery): Promise<ProbeResult | undefined> {
    if (this.#client === undefined || !this.isOpen) throw new Error('The connection was lost.');

    if (this.#running++ === 0) this.#noteAsked();
    try {
      const result = await this.#client.query(query);
      return 'rows' in result ? result : result.at(-1);
    } catch (error) {
      throw asError(error);
    } finally {
      this.#running--;
    }
  }
}

function quieten({ connection }: ProbeClient): void {
  connection?.stream.unref?.();
  connection?.stream.on?.('error', () => undefined);
}

// How long a server may take to close an idle connection.
const CLOSE_MILLIS = 1000;

function endGently(client: ProbeClient): void {
  const stopWaiting = systemClock.after(CLOSE_MILLIS, () => endClient(client, false));
  client.on('end', stopWaiting);
  client.end(() => undefined);
}

function endClient(client: ProbeClient, isIdle: boolean): void {
  const stream = client.connection?.stream;
  // An idle server is told, so that it logs no lost client; one that hangs need not answer that.
  if (isIdle || stream === undefined) client.end(() => undefined);
  if (isIdle && stream?.destroySoon !== undefined) stream.destroySoon();
  else stream?.destroy();
}

import { EventEmitter } from 'node:events';
import type { ProbeClient, ProbeQuery, ProbeResult } from '../../lib/monitor/probe-client.ts';

type Results = ProbeResult | readonly ProbeResult[];

/** What the fake server of a probe answers to a text; throws or rejects for an error. */
export type ProbeAnswer = (text: string) => Results | Promise<Results>;

/** The driver's client of a probe, without a network, and what became of it. */
export class FakeProbeClient extends EventEmitter implements ProbeClient {
  readonly processID = 7;
  readonly texts: string[] = [];
  /** What was done to the client and its sockets, in order. */
  readonly done: string[] = [];
  readonly connection: EventEmitter & { stream: FakeSocket };
  readonly #answer: ProbeAnswer;

  constructor(answer: ProbeAnswer = () => ({ rows: [{}] })) {
    super();
    this.#answer = answer;
    const stream = new FakeSocket('socket', this.done);
    this.connection = Object.assign(new EventEmitter(), { stream });
  }

  async query({ text }: ProbeQuery): Promise<Results> {
    this.texts.push(text);
    return this.#answer(text);
  }

  end(): void {
    this.done.push('end');
  }

  /** Puts another socket in the place of the first, as pg does. */
  upgradeToTls(): void {
    this.connection.stream = new FakeSocket('tls', this.done);
    this.connection.emit('sslconnect');
  }
}

class FakeSocket extends EventEmitter {
  bytesRead = 0;
  readonly #name: string;
  readonly #done: string[];

  constructor(name: string, done: string[]) {
    super();
    this.#name = name;
    this.#done = done;
  }

  unref(): void {
    this.#done.push(`unref ${this.#name}`);
  }

  destroy(): void {
    this.#done.push(`destroy ${this.#name}`);
  }

  destroySoon(): void {
    this.#done.push(`destroy ${this.#name} soon`);
  }
}

/** An error as a server sends it. */
export function serverError(code: string, severity = 'ERROR'): Error {
  return Object.assign(new Error(`${severity} ${code}`), { code, severity });
}

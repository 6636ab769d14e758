import type { Answer } from '../../lib/consistency/questions.ts';

// oxlint-disable no-underscore-dangle -- pg's names.

interface Question {
  readonly text: string;
  readonly types?: { getTypeParser(): (text: unknown) => unknown };
}

interface Pending {
  readonly text: string;
  readonly resolve: (result: { readonly rows: readonly Answer[] }) => void;
  readonly reject: (error: Error) => void;
}

type Done = (error: unknown, result?: { readonly rows: readonly Answer[] }) => void;

/** The driver's client, as far as sharing a round trip goes: it answers only when it is told to. */
export class FakePipingClient {
  pipeline: boolean | undefined;
  readyForQuery: boolean | undefined = true;
  /** pg's own: what was sent and is not yet being answered. */
  _sentQueryQueue: readonly Pending[] = [];
  /** What was sent and answered, in order, with the flag as it was at that moment. */
  readonly log: string[] = [];
  /** How the questions want their answers' texts read. */
  readonly types: Question['types'][] = [];
  #active: Pending | undefined;
  #waiting: readonly Pending[] = [];

  /** @param pipeline undefined for a driver that knows nothing of it. */
  constructor(pipeline: boolean | undefined) {
    this.pipeline = pipeline;
  }

  /** pg's own: what is being answered. */
  get _activeQuery(): Pending | undefined {
    return this.#active;
  }

  query({ text, types }: Question, done?: Done): Promise<{ readonly rows: readonly Answer[] }> {
    this.types.push(types);
    const answered = this.#queue(text);
    if (done !== undefined) {
      // pg's callback is Node's own kind.
      // oxlint-disable-next-line promise/no-callback-in-promise
      answered.then((result) => done(null, result), done);
    }
    return answered;
  }

  #queue(text: string): Promise<{ readonly rows: readonly Answer[] }> {
    return new Promise((resolve, reject) => {
      const pending = { text, resolve, reject };
      if (this.pipeline === true || this.readyForQuery === true) this.#send(pending);
      else this.#waiting = [...this.#waiting, pending];
    });
  }

  /** Answers, or refuses, what was sent first. */
  answer(rows: readonly Answer[] | Error = []): void {
    const active = this.#active;
    if (active === undefined) throw new Error('Nothing was sent.');
    this.log.push(`${rows instanceof Error ? 'refuse' : 'answer'} ${active.text}`);
    const [next, ...others] = this._sentQueryQueue;
    this.#active = next;
    this._sentQueryQueue = others;
    this.readyForQuery = next === undefined;
    if (this.readyForQuery) this.#sendWaiting();
    if (rows instanceof Error) active.reject(rows);
    else active.resolve({ rows });
  }

  /** Fails all that is unanswered, as pg does when the connection ends. */
  lose(error: Error): void {
    const lost = [this.#active, ...this._sentQueryQueue, ...this.#waiting];
    this.readyForQuery = false;
    for (const pending of lost) pending?.reject(error);
  }

  #send(pending: Pending): void {
    this.log.push(`send ${pending.text}${this.pipeline === true ? ', piped' : ''}`);
    if (this.#active === undefined) {
      this.#active = pending;
      this.readyForQuery = false;
    } else {
      this._sentQueryQueue = [...this._sentQueryQueue, pending];
    }
  }

  #sendWaiting(): void {
    const [next, ...others] = this.#waiting;
    this.#waiting = others;
    if (next !== undefined) this.#send(next);
  }
}

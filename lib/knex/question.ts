import type { Answer } from '../consistency/questions.ts';
import type { Connection } from '../hosts/host.ts';
import { sendQuery } from '../hosts/run-query.ts';
import { positionQuestion } from './position-query.ts';

/** What became of a question; its value is undefined where the answer has no row. */
export type Outcome = PromiseSettledResult<Answer | undefined>;

/** A question about a position that was sent, and what becomes of it. */
export class Question {
  /** Undefined as long as there is none. */
  outcome: Outcome | undefined;
  #settled: Promise<Outcome> | undefined;
  #resolve: ((outcome: Outcome) => void) | undefined;

  /** Asks a server on a connection that is in nobody else's use. */
  constructor(connection: Connection, text: string) {
    try {
      sendQuery(connection, positionQuestion(text), (reason, [row]) => {
        if (reason !== null && reason !== undefined) this.#end({ status: 'rejected', reason });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its values were not parsed.
        else this.#end({ status: 'fulfilled', value: row as Answer | undefined });
      });
    } catch (reason) {
      this.#end({ status: 'rejected', reason });
    }
  }

  /** The outcome, once there is one. Mostly there is, when somebody asks for it. */
  get settled(): Promise<Outcome> {
    this.#settled ??= new Promise((resolve) => {
      if (this.outcome === undefined) this.#resolve = resolve;
      else resolve(this.outcome);
    });
    return this.#settled;
  }

  #end(outcome: Outcome): void {
    this.outcome ??= outcome;
    this.#resolve?.(this.outcome);
  }
}

/** Asks a server on a connection that is in nobody else's use; tells what became of it. */
export function ask(connection: Connection, text: string): Promise<Outcome> {
  return new Question(connection, text).settled;
}

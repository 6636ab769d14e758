import { asError } from '../errors.ts';
import type { ProbeQuery, ProbeResult } from './probe-client.ts';
import { probeParts, probeStatement, readAnswers } from './probe-parts.ts';
import type { ProbeAnswers, ProbePart } from './probe-parts.ts';
import { serverComplaint } from './server-complaint.ts';

/** Runs one statement on a connection, and answers with its last result. */
export type RunQuery = (query: ProbeQuery) => Promise<ProbeResult | undefined>;

const MOST_TRIES = 3;

// As the server writes it, whatever an application made of the driver's types.
const types = { getTypeParser: () => (text: unknown) => text };

/** The statement of a probe, cut down to what the server of one connection has answered before. */
export class ProbeStatement {
  readonly #run: RunQuery;
  #parts: readonly ProbePart[] = probeParts;
  #prelude = '';
  /** How often in a row a part alone could not be answered for the moment. */
  readonly #passing = new Map<ProbePart, number>();

  constructor(run: RunQuery) {
    this.#run = run;
  }

  /** Asks everything at once, and part by part where that is refused; rejects when nothing is answered. */
  async ask(): Promise<ProbeAnswers> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      try {
        return await this.#query(this.#parts);
      } catch (error) {
        const complaint = serverComplaint(asError(error));
        if (complaint === undefined) throw error;
        if (complaint === 'missing') break;
        // A role's statement_timeout; unknown to other engines, so not set before it is met.
        if (complaint === 'cancelled') this.#prelude = 'set local statement_timeout = 0; ';
      }
    }
    return this.#askEach();
  }

  async #askEach(): Promise<ProbeAnswers> {
    let answers: ProbeAnswers = {};
    let hasAnswer = false;
    for (const part of this.#parts) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one connection runs one statement at a time.
        answers = { ...answers, ...(await this.#query([part])) };
        hasAnswer = true;
        this.#passing.delete(part);
      } catch (error) {
        const complaint = serverComplaint(asError(error));
        if (complaint === undefined) throw error;
        const times = (this.#passing.get(part) ?? 0) + 1;
        this.#passing.set(part, times);
        // What never passes is missing, too: an engine may refuse by the code of a passing trouble.
        if (complaint === 'missing' || times >= MOST_TRIES) {
          this.#parts = this.#parts.filter((other) => other !== part);
        }
      }
    }
    if (!hasAnswer) await this.#query([]);
    return answers;
  }

  async #query(parts: readonly ProbePart[]): Promise<ProbeAnswers> {
    const text = `/* knex-rwsplit probe */ ${this.#prelude}${probeStatement(parts)}`;
    return readAnswers((await this.#run({ text, types }))?.rows[0]);
  }
}

import type { Change, Changed } from '../state/known-state.ts';
import { stateError } from '../state/state-error.ts';
import { readChanged } from '../state/sync-statement.ts';
import type { WantedState } from '../state/wanted-state.ts';
import type { Message } from './pg-driver.ts';

/** What a batch does with a message of the server. */
export type Handling =
  | { readonly kind: 'pass' }
  | { readonly kind: 'swallow' }
  /** The statement fails with this error, before the message is passed on. */
  | { readonly kind: 'fail'; readonly error: unknown };

const pass: Handling = { kind: 'pass' };
const swallow: Handling = { kind: 'swallow' };

/** A change of state that travels with a statement, and how far the server has come with it. */
export class StateBatch {
  readonly changes: readonly Change[];
  readonly wanted: WantedState;
  readonly isAhead: boolean;
  /** Set once nothing of it is to be answered any more. */
  isOver = false;
  /** Whether the change was committed. */
  isConfirmed = false;
  /** Whether the server has refused it. */
  hasFailed = false;
  readonly answers: Changed[] = [];
  #phase: 'changing' | 'ending' | 'running' = 'changing';
  #failure: unknown;

  constructor(changes: readonly Change[], wanted: WantedState, isAhead: boolean) {
    this.changes = changes;
    this.wanted = wanted;
    this.isAhead = isAhead;
  }

  /** Says what becomes of a message that answers to the statement, or to what travels with it. */
  receive(event: string, message: Message | undefined): Handling {
    switch (this.#phase) {
      case 'changing':
        return this.#whileChanging(event, message);
      case 'ending':
        return this.#atOwnEnd(event, message);
      case 'running':
        return this.#whileRunning(event, message);
      default:
        return this.#phase satisfies never;
    }
  }

  #whileChanging(event: string, message: Message | undefined): Handling {
    switch (event) {
      case 'parseComplete':
      case 'bindComplete':
        return swallow;
      case 'dataRow':
        this.answers.push(readChanged(message?.fields ?? []));
        return swallow;
      case 'commandComplete':
        this.#phase = this.isAhead ? 'ending' : 'running';
        return swallow;
      case 'errorMessage':
        this.hasFailed = true;
        this.#failure = stateError(message, this.changes);
        // Nothing comes behind the end of the session.
        if (this.isAhead && message?.severity !== 'FATAL') {
          this.#phase = 'ending';
          return swallow;
        }
        this.isOver = true;
        return { kind: 'fail', error: this.#failure };
      default:
        return pass;
    }
  }

  // What was sent ahead has an end of its own, and the statement comes behind it in any case.
  #atOwnEnd(event: string, message: Message | undefined): Handling {
    if (event === 'errorMessage') {
      this.hasFailed = true;
      this.#failure = stateError(message, this.changes);
      return swallow;
    }
    if (event !== 'readyForQuery') return pass;
    this.isConfirmed = !this.hasFailed && message?.status === 'I';
    this.#phase = 'running';
    return swallow;
  }

  #whileRunning(event: string, message: Message | undefined): Handling {
    if (event !== 'errorMessage' && event !== 'readyForQuery') return pass;
    this.isOver = true;
    if (this.isAhead) {
      const isHeld = this.hasFailed && event === 'readyForQuery';
      return isHeld ? { kind: 'fail', error: this.#failure } : pass;
    }
    // An error has rolled the change back, unless something in the statement had committed it.
    this.isConfirmed = event === 'readyForQuery' && message?.status === 'I';
    return pass;
  }
}

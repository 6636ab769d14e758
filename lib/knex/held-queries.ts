import { isNativeError } from 'util/types';
import { asTexts } from '../hosts/run-query.ts';
import type { ConnectionSync } from '../state/connection-sync.ts';
import type { Change } from '../state/known-state.ts';
import { ISOLATION } from '../state/isolation.ts';
import { stateError } from '../state/state-error.ts';
import { readChanged, syncStatement } from '../state/sync-statement.ts';
import { copyError, SessionStateError } from '../errors.ts';
import type { DriverClient, QueryCallback, Wire } from './pg-driver.ts';
import { isSubmittable } from './pg-driver.ts';

interface Held {
  send(): void;
  fail(error: unknown): void;
}

interface Result {
  readonly rows: readonly Readonly<Record<string, string | null>>[];
}

// A constant, as nothing else runs on a replica in that isolation.
const RESET_ISOLATION = `reset ${ISOLATION}`;

/** Queries that wait until their connection is known to be in the state that they are to run in. */
export class HeldQueries {
  readonly #query: (...args: readonly unknown[]) => unknown;
  readonly #held: Held[] = [];
  #isHolding = false;

  /** @param query sends on the connection, whatever state that is in. */
  constructor(query: (...args: readonly unknown[]) => unknown) {
    this.#query = query;
  }

  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** Changes the state of a connection, and sends a query once that is confirmed. */
  confirm(
    client: DriverClient,
    sync: ConnectionSync,
    changes: readonly Change[],
    args: readonly unknown[],
    onFailure: () => void,
  ): unknown {
    const { wanted, known } = sync;
    const answer = this.hold(client, args);
    this.#isHolding = true;
    if (known.isIsolated) this.#query({ text: RESET_ISOLATION }, () => undefined);
    known.begin(changes);
    const done: QueryCallback = (error, result) => {
      this.#isHolding = false;
      if (error !== null && error !== undefined) {
        onFailure();
        return this.#end(stateError(error, changes));
      }
      const answers = (result as Result).rows.map(({ name, before, after, session }) =>
        readChanged([name ?? null, before ?? null, after ?? null, session ?? null]),
      );
      for (const each of answers) sync.note(each);
      const isCommitted = (client.getTransactionStatus?.() ?? 'I') === 'I';
      if (!isCommitted || wanted === undefined || sync.wanted !== wanted) {
        return this.#end(
          new SessionStateError('The connection was given back before the statement was sent.'),
        );
      }
      known.confirm(changes, answers, wanted);
      for (const held of this.#held.splice(0)) held.send();
    };
    this.#query({ ...syncStatement(changes), types: asTexts }, done);
    return answer;
  }

  /** Fails a query that is not to be sent; answers as the driver does. */
  refuse(client: DriverClient, args: readonly unknown[], error: Error): unknown {
    const answer = this.hold(client, args);
    const refused = this.#held.pop();
    // Never while it is asked for, as with the driver.
    process.nextTick(() => refused?.fail(error));
    return answer;
  }

  /** Keeps a query until what is on its way is confirmed; answers as the driver does. */
  hold(client: DriverClient, args: readonly unknown[]): unknown {
    const [query] = args;
    const { callback: own } = query as { readonly callback?: QueryCallback | undefined };
    const given = args.find((arg) => typeof arg === 'function') as QueryCallback | undefined;
    const callback = given ?? own;
    if (isSubmittable(query) || callback !== undefined) {
      const fail = (error: unknown): void => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of the driver that made the query.
        if (isSubmittable(query)) query.handleError(error, client.connection as Wire);
        else callback?.(error);
      };
      this.#held.push({ send: () => void this.#query(...args), fail });
      return isSubmittable(query) ? query : undefined;
    }
    return new Promise((resolve, reject) => {
      const send = (): void => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as there is no callback.
        (this.#query(...args) as Promise<unknown>).then(resolve, reject);
      };
      this.#held.push({ send, fail: reject });
    });
  }

  #end(error: unknown): void {
    // Each has an error of its own: Knex writes the statement into it.
    for (const held of this.#held.splice(0)) {
      held.fail(isNativeError(error) ? copyError(error) : error);
    }
  }
}

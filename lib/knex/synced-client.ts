import { isOwnQuery } from '../hosts/run-query.ts';
import { carriageOf } from '../state/carriage.ts';
import { ConnectionSync, keepSync } from '../state/connection-sync.ts';
import { HeldQueries } from './held-queries.ts';
import type { Driver, QueryCallback, Submittable } from './pg-driver.ts';
import { isSubmittable, textToSend } from './pg-driver.ts';
import { StateBatches } from './state-batches.ts';

// What an application may send on a connection that it holds, past everything that reads texts.
const MAY_CHANGE_SESSION =
  /\b(?:set|reset|discard|listen|load|prepare|declare|temp|temporary|set_config)\b/i;

// Code that may change settings, whatever it is that it says.
const RUNS_CODE = /(?:^|;|\*\/|\n)\s*(?:call|do)\b/i;

/**
 * Makes the driver's client class keep the session state that is wanted of its connections: no
 * statement but our own is sent in another one.
 *
 * @param spoil takes a connection out of use once it is given back.
 * @param refusal says why a connection can be in no state.
 */
export function syncedClient(
  { Client }: Driver,
  spoil: (connection: object) => void,
  refusal: (connection: object) => Error | undefined,
): Driver['Client'] {
  const { Query } = Client;
  return class SyncedClient extends Client {
    readonly #sync = new ConnectionSync();
    readonly #batches = new StateBatches(this, this.#sync, () => spoil(this));
    readonly #held = new HeldQueries((...args) => this.#sendAsIs(args));

    constructor(settings: unknown) {
      super(settings);
      keepSync(this, this.#sync);
      const { reports } = this.#sync;
      this.connection?.on?.('parameterStatus', ({ parameterName, parameterValue }) =>
        reports.note(parameterName, parameterValue),
      );
    }

    override query(...args: readonly unknown[]): unknown {
      const [query] = args;
      const { wanted } = this.#sync;
      if (wanted === undefined || query === null || query === undefined || isOwnQuery(query)) {
        return super.query(...args);
      }

      const text = textToSend(query);
      if (this.#sync.isByHand && (text === undefined || MAY_CHANGE_SESSION.test(text))) spoil(this);
      const refused = refusal(this);
      if (refused !== undefined) {
        // What each transaction begins with is the pooler's to know.
        if (wanted.values.size === 0) return super.query(...args);
        return this.#held.refuse(this, args, refused);
      }
      if (this.#held.isHolding) return this.#held.hold(this, args);
      const { changes } = this.#sync;
      // In a transaction the state is that of its beginning, and what the application made of it.
      const isInTransaction = (this.getTransactionStatus?.() ?? 'I') !== 'I';
      if (changes.length === 0 || isInTransaction) return this.#sendAsIs(args);

      const carriage = carriageOf(text, changes);
      if (carriage === 'alone' || Query === undefined || !this.#canCarry) {
        return this.#held.confirm(this, this.#sync, changes, args, () => spoil(this));
      }
      return this.#sendAlong(Query, args, carriage === 'ahead');
    }

    // Another driver, or an older `pg`, doesn't tell which query is being answered.
    get #canCarry(): boolean {
      return this.connection?.parse !== undefined && '_activeQuery' in this;
    }

    #sendAsIs(args: readonly unknown[]): unknown {
      const text = textToSend(args[0]) ?? 'do';
      if (RUNS_CODE.test(text)) {
        this.#sync.known.doubtAll();
        if (MAY_CHANGE_SESSION.test(text)) spoil(this);
      }
      return super.query(...args);
    }

    #sendAlong(
      OwnQuery: NonNullable<typeof Query>,
      [config, values, callback]: readonly unknown[],
      isAhead: boolean,
    ): unknown {
      if (isSubmittable(config)) {
        this.#batches.attach(config, isAhead);
        return super.query(config, values, callback);
      }

      const query = new OwnQuery(config, values, callback);
      query.query_timeout = (config as { query_timeout?: unknown }).query_timeout;
      this.#batches.attach(query, isAhead);
      if (query.callback !== undefined) return void super.query(query);
      return new Promise((resolve, reject) => {
        query.callback = settle(resolve, reject);
        super.query(query);
      });
    }
  };
}

function settle(
  resolve: (result: unknown) => void,
  reject: (error: unknown) => void,
): Submittable['callback'] {
  const callback: QueryCallback = (error, result) => {
    if (error === null || error === undefined) resolve(result);
    else reject(error);
  };
  return callback;
}

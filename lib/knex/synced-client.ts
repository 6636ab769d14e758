import { SessionStateError } from '../errors.ts';
import { isOwnQuery, isStatelessQuery } from '../hosts/run-query.ts';
import type { Carriage } from '../state/carriage.ts';
import { carriageOf } from '../state/carriage.ts';
import { ConnectionSync, keepSync } from '../state/connection-sync.ts';
import { HeldQueries } from './held-queries.ts';
import type { Driver, QueryCallback, Submittable } from './pg-driver.ts';
import { isSubmittable, lacksValues, textToSend } from './pg-driver.ts';
import { ownClientQuery, quickArguments, quickQueries } from './quick-arguments.ts';
import { codeChangesSession, mayChangeSession, runsCode } from './sent-text.ts';
import { StateBatches } from './state-batches.ts';

// A role that was dropped and made again has its old name, and nothing of its rights.
const ROLE_MAY_BE_GONE: ReadonlySet<string> = new Set(['42501', '42704', 'XX000']);

// What a pool's `validate` may ask of a connection that nobody uses.
const LOOKS = /^\s*select\b[^;]*;?\s*$/i;

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
  // What extends the driver's class may count on how Knex calls it.
  const drivers = ownClientQuery();
  const quick =
    Query !== undefined && Object.hasOwn(Client, 'Query') ? quickQueries(Query) : undefined;
  const noteCode = (sync: ConnectionSync, connection: object, query: unknown): void => {
    // The names of what runs code are in the look-ups of the catalog.
    if (isOwnQuery(query)) return;
    const text = textToSend(query) ?? 'do';
    if (!runsCode(text)) return;
    sync.known.doubtAll();
    sync.mayHaveLeftovers = true;
    if (!sync.known.hasBegun || codeChangesSession(text)) spoil(connection);
  };
  return class SyncedClient extends Client {
    readonly #sync = new ConnectionSync();
    readonly #batches = new StateBatches(this, this.#sync, () => this.#break());
    readonly #held = new HeldQueries((...args) => this.#sendAsIs(args));
    #status: string | null = null;

    constructor(settings: unknown) {
      super(settings);
      keepSync(this, this.#sync);
      const { reports, known } = this.#sync;
      this.connection?.on?.('parameterStatus', ({ parameterName, parameterValue }) =>
        reports.note(parameterName, parameterValue),
      );
      this.connection?.on?.('errorMessage', ({ code = '' }) => {
        if (ROLE_MAY_BE_GONE.has(code)) known.doubtRole();
      });
      if (super.getTransactionStatus !== undefined) return;
      this.connection?.on?.('readyForQuery', ({ status }) => {
        this.#status = status ?? null;
      });
    }

    /** An older `pg` doesn't tell. */
    override getTransactionStatus(): string | null {
      return super.getTransactionStatus?.() ?? this.#status;
    }

    override query(...args: readonly unknown[]): unknown {
      const [query] = args;
      const { wanted } = this.#sync;
      if (
        wanted === undefined ||
        query === null ||
        query === undefined ||
        isStatelessQuery(query)
      ) {
        if (this.#sync.isGivenBack) this.#noteStray(query);
        return this.#handOver(args);
      }

      const text = textToSend(query);
      const isOwn = isOwnQuery(query);
      if (!this.#sync.isOfKnex && !isOwn && (text === undefined || mayChangeSession(text))) {
        spoil(this);
      }
      const refused = this.#sync.isBroken ? afterFailure() : refusal(this);
      if (refused !== undefined) {
        // What each transaction begins with is the pooler's to know.
        if (wanted.values.size === 0 && !this.#sync.isBroken) return super.query(...args);
        return this.#held.refuse(this, args, refused);
      }
      if (this.#held.isHolding) return this.#held.hold(this, args);
      const { changes } = this.#sync;
      // In a transaction the state is that of its beginning, and what the application made of it.
      if (changes.length === 0 || (this.getTransactionStatus() ?? 'I') !== 'I') {
        return this.#sendAsIs(args);
      }

      // In a batch, the server would complain of the batch; and what code does is to come after the
      // state is known.
      const isCode = !isOwn && text !== undefined && runsCode(text);
      const isAlone = lacksValues(args) || isCode;
      const carriage = isAlone ? 'alone' : carriageOf(text, changes);
      const canCarry = Query !== undefined && this.#canCarry;
      if (canCarry && (carriage !== 'alone' || this.#batches.areQueued)) {
        return this.#sendAlong(Query, args, carriage);
      }
      return this.#held.confirm(this, this.#sync, changes, args, () => this.#break());
    }

    // Another driver, or an older `pg`, doesn't tell which query is being answered.
    get #canCarry(): boolean {
      return this.connection?.parse !== undefined && '_activeQuery' in this;
    }

    // Whatever was to run in the state must not run in another.
    #break(): void {
      this.#sync.isBroken = true;
    }

    // Nobody is there for whom it could be right, and the next user is not to have what it leaves.
    #noteStray(query: unknown): void {
      if (query === null || query === undefined || isOwnQuery(query)) return;
      const text = textToSend(query) ?? '';
      if (LOOKS.test(text) && !mayChangeSession(text) && !runsCode(text)) return;
      this.#sync.known.doubtAll();
      spoil(this);
      // Knex's pools close such a one before anybody gets it.
      Object.assign(this, { __knex__disposed: usedLate() });
    }

    #sendAsIs(args: readonly unknown[]): unknown {
      noteCode(this.#sync, this, args[0]);
      return this.#handOver(args);
    }

    #handOver(args: readonly unknown[]): unknown {
      const isQuick = quick !== undefined && drivers.is(Reflect.get(Client.prototype, 'query'));
      return super.query(...(isQuick ? quickArguments(quick, args) : args));
    }

    #sendAlong(
      OwnQuery: NonNullable<typeof Query>,
      [config, values, callback]: readonly unknown[],
      carriage: Carriage,
    ): unknown {
      const onSubmit = (): void => noteCode(this.#sync, this, config);
      if (isSubmittable(config)) {
        this.#batches.attach(config, carriage, onSubmit);
        return super.query(config, values, callback);
      }

      const query = new OwnQuery(config, values, callback);
      query.query_timeout = (config as { query_timeout?: unknown }).query_timeout;
      this.#batches.attach(query, carriage, onSubmit);
      if (query.callback !== undefined) return void super.query(query);
      return new Promise((resolve, reject) => {
        query.callback = settle(resolve, reject);
        super.query(query);
      });
    }
  };
}

function afterFailure(): Error {
  return new SessionStateError(
    'A session state could not be set up on this connection, which is closed for it; the statement was not sent.',
  );
}

function usedLate(): Error {
  return new SessionStateError(
    'A connection was used after it had been given back, and is closed for it; what was sent ran in the state of its last user.',
  );
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

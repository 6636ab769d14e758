import type { Knex } from 'knex';
import { resolveConfig } from '../config/resolve-config.ts';
import type { Connection } from '../hosts/host.ts';
import { assertParserInstalled } from '../sql/parser.ts';
import { cancelStatement } from './cancel.ts';
import type { CancellingDriver } from './cancel-request.ts';
import { knexClasses } from './internals.ts';
import { consistencyOf } from './needs.ts';
import type {
  CompiledStatement,
  Executable,
  KnexPackage,
  PgDialectOf,
  Runner,
  StreamRequest,
  Transaction,
} from './internals.ts';
import { guardedClient } from './guarded-client.ts';
import { createPoolFacade } from './pool-facade.ts';
import { refuseNative } from './refuse-native.ts';
import { createRunner } from './runner.ts';
import { isRolledBack } from './rolled-back.ts';
import { RWSplit } from './rw-split.ts';
import { streamUntilLost } from './lost-stream.ts';
import { SplitState, splitOf, stateOf, withState } from './split-state.ts';
import { describeRoute, runStatement } from './statement.ts';
import { sendUnleased } from './send-unleased.ts';
import { streamStatement } from './stream-statement.ts';
import { routeTasks } from './tasks.ts';
import { TextMemo } from './text-memo.ts';
import { routeTransaction } from './transaction.ts';
import { runUnlock } from './unlock.ts';
import { wantedOf, wantedOrNothing } from './wanted.ts';

/**
 * Makes the client class for a copy of Knex, for trees that hold several:
 * `createRWSplitClient(require('knex'))`.
 *
 * @param Dialect extends the `pg` dialect of that copy, as an ORM's own does; by default that.
 */
export function createRWSplitClient(
  knexPackage: KnexPackage,
  Dialect?: PgDialectOf,
): typeof Knex.Client {
  const classes = knexClasses(knexPackage, Dialect);
  const SplitRunner = createRunner(classes);
  // To number the placeholders takes longer than to find the text.
  const positions = new TextMemo<string>();
  routeTasks(classes);

  // No fields and no #private members in this class: Knex makes the clients of transactions and
  // clones by `Object.create(prototype)`, which runs no constructor and no initialiser.
  return class RWSplitClient extends classes.PgDialect {
    constructor(config: Knex.Config) {
      const { config: resolved, settings } = resolveConfig(config);
      if (settings !== undefined) assertParserInstalled();
      super(withState(resolved, settings && new SplitState(settings, classes)));
      // Applications, and Knex's own migrations, compare the name of the client as a string.
      this.config.client = 'pg';
    }

    override initializePool(config: Knex.Config = this.config): void {
      const state = stateOf(this);
      if (state === undefined) return super.initializePool(config);
      if (this.pool !== undefined) {
        this.logger.warn?.('The pool has already been initialized');
        return;
      }

      refuseNative(this.driver);
      // `knex.initialize(config)` may bring another pool than the one that was destroyed.
      const isOther = config !== this.config;
      const settings = isOther ? resolveConfig({ ...this.config, ...config }).settings : undefined;
      if (settings !== undefined) state.states.usual = wantedOrNothing(settings);
      const split = new RWSplit(this, state, settings ?? state.settings, classes);
      state.split = split;
      this.pool = createPoolFacade(split, () => {
        if (state.split === split) state.split = undefined;
      });
    }

    override positionBindings(sql: string): string {
      const known = positions.get(sql);
      return known ?? positions.keep(sql, super.positionBindings(sql));
    }

    override runner(builder: Executable): Runner {
      return stateOf(this) === undefined ? super.runner(builder) : new SplitRunner(this, builder);
    }

    override transaction(container: unknown, config: unknown, outerTx: unknown): Knex.Transaction {
      const transaction = super.transaction(container, config, outerTx);
      const split = splitOf(this);
      if (split !== undefined && this.transacting !== true) {
        routeTransaction(split, transaction as Transaction, this);
      }
      return transaction;
    }

    // A connection without a statement is for whatever comes: the primary's.
    override async acquireConnection(): Promise<unknown> {
      const split = splitOf(this);
      if (split === undefined) return super.acquireConnection();

      const state = wantedOf(split.state, this);
      const lease = await split.lease({
        intent: 'write',
        proved: true,
        reason: 'taken by hand',
        state,
        ...consistencyOf(split, 'write', {}),
      });
      lease.isTaken = true;
      return lease.connection;
    }

    override releaseConnection(connection: Connection): Promise<void> {
      const split = splitOf(this);
      if (split === undefined) return super.releaseConnection(connection);

      split.dispatcher.releaseTaken(connection);
      return Promise.resolve();
    }

    override query(connection: Connection, statement: CompiledStatement | string): unknown {
      const split = splitOf(this);
      const lease = split?.dispatcher.leaseOf(connection);
      if (split === undefined || lease === undefined) return super.query(connection, statement);

      const described: Partial<CompiledStatement> =
        typeof statement === 'string' ? { sql: statement } : statement;
      described.rwSplit = describeRoute(lease);
      if (this._query === RWSplitClient.prototype._query) return super.query(connection, described);
      return super.query.call(guardedClient(this, split, lease), connection, described);
    }

    override stream(
      connection: Connection,
      statement: unknown,
      stream: unknown,
      options: unknown,
    ): unknown {
      const split = splitOf(this);
      const lease = split?.dispatcher.leaseOf(connection);
      const isOwn = this._stream === RWSplitClient.prototype._stream;
      const isPlain = split === undefined || lease === undefined || isOwn;
      const client = isPlain ? this : guardedClient(this, split, lease);
      return super.stream.call(client, connection, statement, stream, options);
    }

    override _query(
      connection: Connection,
      statement: CompiledStatement,
    ): Promise<CompiledStatement> {
      const split = splitOf(this);
      if (split === undefined) return super._query(connection, statement);
      const { states } = split.state;
      const send = (to: Connection): Promise<CompiledStatement> =>
        states.isUsed
          ? states.sendOfKnex(to, () => super._query(to, statement))
          : super._query(to, statement);
      const lease = split.dispatcher.leaseOf(connection);
      if (lease === undefined) return sendUnleased(split, connection, send);
      if (lease.unlock !== undefined) return runUnlock(split, lease, lease.unlock, statement, send);
      const { preparation } = split;
      const sent = preparation
        ? preparation.run(lease, statement, send)
        : runStatement(split, lease, statement, send);
      if (!lease.isTransaction) return sent;
      return sent.catch((error: unknown) => {
        if (isRolledBack(lease, statement, error)) return statement;
        throw error;
      });
    }

    override _stream(
      connection: Connection,
      statement: CompiledStatement,
      stream: StreamRequest['stream'],
      options: unknown,
    ): Promise<unknown> {
      const split = splitOf(this);
      if (split === undefined) return super._stream(connection, statement, stream, options);

      const send = (to: Connection): Promise<unknown> =>
        streamUntilLost(to, stream, () =>
          split.state.states.sendOfKnex(to, () => super._stream(to, statement, stream, options)),
        );
      const lease = split.dispatcher.leaseOf(connection);
      if (lease === undefined) return sendUnleased(split, connection, send);
      return streamStatement(split, lease, statement, stream, send);
    }

    override async cancelQuery(connection?: Connection): Promise<unknown> {
      const split = splitOf(this);
      if (split === undefined || connection === undefined) return super.cancelQuery(connection);
      return cancelStatement(split, this.driver as CancellingDriver, connection);
    }
  };
}

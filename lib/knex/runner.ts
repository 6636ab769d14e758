import type { Lease } from '../routing/lease.ts';
import type { KeptConnection } from '../routing/kept-connection.ts';
import { listenHere } from './listen-here.ts';
import { noteBoundStatement, onceNoted } from './bound-statement.ts';
import { compile } from './compile.ts';
import type { CompiledStatement, KnexClasses, Runner, StreamRequest } from './internals.ts';
import { lockOn } from './lock-connection.ts';
import { ownRunnerQuery, quickQuery } from './quick-query.ts';
import { isList, requestOf } from './request.ts';
import type { StatementRequest } from './request.ts';
import type { RWSplit } from './rw-split.ts';
import { noteSessionEffect } from './session-effect.ts';
import { splitOf } from './split-state.ts';
import { describeRoute } from './statement.ts';
import { streamClient } from './stream-client.ts';
import { textOf } from './statement-text.ts';
import { isOver } from './transaction-lease.ts';
import { unlockLease } from './unlock-lease.ts';

type Compiled = CompiledStatement | readonly CompiledStatement[];
type Callback = (runner: Runner, request?: StreamRequest) => unknown;

/** Makes the runner of a copy of Knex that compiles once, and then takes a connection of the right host. */
export function createRunner({ KnexRunner, KnexTimeoutError }: KnexClasses): typeof Runner {
  const ownQuery = ownRunnerQuery();
  return class SplitRunner extends KnexRunner {
    #lease: Lease | undefined;

    // One promise for all of it where nothing has to be waited for: each one costs every query.
    override ensureConnection(callback: Callback, request?: StreamRequest): Promise<unknown> {
      const split = splitOf(this.client);
      if (split !== undefined && request !== undefined) listenHere(request.stream);
      if (split === undefined || this.#isBound()) return super.ensureConnection(callback, request);

      try {
        const compiled = compile(this, request);
        const wanted = requestOf(split, this.builder, compiled);
        if (!(wanted instanceof Promise)) return this.#runAs(split, wanted, compiled, request);
        return wanted.then((found) => this.#runAs(split, found, compiled, request));
      } catch (error) {
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- as it was thrown.
        return Promise.reject(error);
      }
    }

    override query(statement: CompiledStatement): Promise<unknown> {
      if (this.#lease !== undefined) {
        statement.rwSplit = describeRoute(this.#lease);
        return this.#send(statement);
      }
      return this.#queryBound(statement);
    }

    #send(statement: CompiledStatement): Promise<unknown> {
      const isQuick = !statement.timeout && ownQuery.is(Reflect.get(KnexRunner.prototype, 'query'));
      return isQuick ? quickQuery(this, statement) : super.query(statement);
    }

    // A transaction, or the application, has chosen the connection.
    #queryBound(statement: CompiledStatement): Promise<unknown> {
      const split = splitOf(this.client);
      const { connection } = this;
      if (split === undefined || connection === undefined) return super.query(statement);

      const lease = split.dispatcher.leaseOf(connection);
      if (isOver(this.client, lease)) return this.#send(statement);
      if (lease !== undefined) statement.rwSplit = describeRoute(lease);
      // Not awaited before it is sent: statements of a transaction keep their order.
      const noted = noteBoundStatement(split, connection, statement, this.client, this.builder);
      const sent = this.#send(statement);
      return onceNoted(sent, noted, split, lease);
    }

    override stream(...args: unknown[]): unknown {
      const split = splitOf(this.client);
      if (split !== undefined) this.client = streamClient(this, split, () => this.#lease);
      return super.stream(...args);
    }

    async #whenLeased(lease: Promise<Lease>, compiled: Compiled): Promise<Lease> {
      try {
        return await lease;
      } catch (error) {
        if (error instanceof KnexTimeoutError && !isList(compiled)) {
          Object.assign(error, { sql: compiled.sql, bindings: this.builder.bindings });
        }
        throw error;
      }
    }

    #isBound(): boolean {
      const { builder, connection, client } = this;
      return Boolean(builder._connection ?? connection ?? client.transacting);
    }

    #runAs(
      split: RWSplit,
      wanted: StatementRequest,
      compiled: Compiled,
      request: StreamRequest | undefined,
    ): Promise<unknown> {
      const lockUse = wanted.verdict?.lockUse;
      if (lockUse === 'lock') return this.#runLock(split, wanted, compiled, request);
      if (lockUse === undefined || split.locks.size === 0) {
        return this.#runOnOwn(split, wanted, compiled, request);
      }
      return split.locks.unlockWith((kept) => this.#unlock(split, wanted, compiled, kept, request));
    }

    #runOnOwn(
      split: RWSplit,
      wanted: StatementRequest,
      compiled: Compiled,
      request: StreamRequest | undefined,
    ): Promise<unknown> {
      const leased = split.lease(wanted);
      if (!(leased instanceof Promise)) {
        leased.mayRetry = !isList(compiled);
        return this.#runWith(split, leased, wanted, compiled, request);
      }
      return this.#whenLeased(leased, compiled).then((lease) => {
        lease.mayRetry = !isList(compiled);
        return this.#runWith(split, lease, wanted, compiled, request);
      });
    }

    async #runLock(
      split: RWSplit,
      wanted: StatementRequest,
      compiled: Compiled,
      request: StreamRequest | undefined,
    ): Promise<unknown> {
      const lockPlace = await split.locks.reserve();
      let lease: Lease;
      try {
        lease = await this.#whenLeased(Promise.resolve(split.lease(wanted)), compiled);
        lockOn(split, lease, lockPlace);
      } catch (error) {
        lockPlace();
        throw error;
      }
      return this.#runWith(split, lease, wanted, compiled, request);
    }

    async #runWith(
      split: RWSplit,
      lease: Lease,
      { verdict }: StatementRequest,
      compiled: Compiled,
      request: StreamRequest | undefined,
    ): Promise<unknown> {
      this.#lease = lease;
      this.connection = lease.connection;
      lease.user = this;

      try {
        lease.text = isList(compiled) ? compiled.map(textOf).join(';\n') : textOf(compiled);
        if (verdict !== undefined) {
          lease.changesCatalog = verdict.changesCatalog;
          noteSessionEffect(split, lease.connection, verdict, lease.text);
        }
        if (request !== undefined) return await this.#sendStream(compiled, request);
        return await (isList(compiled) ? this.queryArray(compiled) : this.query(compiled));
      } finally {
        const released = lease.release();
        if (released !== undefined) await released;
      }
    }

    #sendStream(compiled: Compiled, { stream, options }: StreamRequest): unknown {
      // Closed while it waited for its connection: Knex would send the query all the same.
      if (stream.destroyed) return undefined;
      try {
        return this.client.stream(this.connection, compiled, stream, options);
      } catch (error) {
        stream.emit('error', error);
        throw error;
      }
    }

    #unlock(
      split: RWSplit,
      wanted: StatementRequest,
      compiled: Compiled,
      kept: readonly KeptConnection[],
      request: StreamRequest | undefined,
    ): Promise<unknown> {
      let end: (() => void) | undefined;
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const isStream = request !== undefined;
      const lease = unlockLease(split, wanted, compiled, kept, isStream, () => end?.());
      if (lease === undefined) return this.#runOnOwn(split, wanted, compiled, request);
      const run = this.#runWith(split, lease, wanted, compiled, request);
      // Knex never says that a stream ended which was closed early.
      return isStream ? Promise.race([run, ended]) : run;
    }
  };
}

import type { Lease } from '../routing/lease.ts';
import type { KeptConnection } from '../routing/lock-keeper.ts';
import { listenHere } from './listen-here.ts';
import { noteBoundStatement } from './bound-statement.ts';
import type { CompiledStatement, KnexClasses, Runner, StreamRequest } from './internals.ts';
import { lockOn } from './lock-connection.ts';
import { isList, requestOf } from './request.ts';
import type { StatementRequest } from './request.ts';
import type { RWSplit } from './rw-split.ts';
import { noteSessionEffect } from './session-effect.ts';
import { splitOf } from './split-state.ts';
import { describeRoute } from './statement.ts';
import { streamClient } from './stream-client.ts';
import { textOf } from './statement-text.ts';
import { isBareUnlock } from './unlock.ts';

type Compiled = CompiledStatement | readonly CompiledStatement[];
type Callback = (runner: Runner, request?: StreamRequest) => unknown;

/** Makes the runner of a copy of Knex that compiles once, and then takes a connection of the right host. */
export function createRunner({ KnexRunner, KnexTimeoutError }: KnexClasses): typeof Runner {
  return class SplitRunner extends KnexRunner {
    #lease: Lease | undefined;

    override async ensureConnection(callback: Callback, request?: StreamRequest): Promise<unknown> {
      const split = splitOf(this.client);
      if (split !== undefined && request !== undefined) listenHere(request.stream);
      if (split === undefined || this.#isBound()) return super.ensureConnection(callback, request);

      const compiled = this.#compile(request);
      const found = requestOf(split, this.builder, compiled);
      const wanted = found instanceof Promise ? await found : found;
      const { lockUse } = wanted.verdict ?? {};
      if (lockUse === 'lock') return this.#runLock(split, wanted, compiled, request);
      if (lockUse === undefined || split.locks.size === 0) {
        return this.#runOnOwn(split, wanted, compiled, request);
      }
      return split.locks.unlockWith((kept) => this.#unlock(split, wanted, compiled, kept, request));
    }

    override query(statement: CompiledStatement): Promise<unknown> {
      if (this.#lease !== undefined) {
        statement.rwSplit = describeRoute(this.#lease);
        return super.query(statement);
      }
      return this.#queryBound(statement);
    }

    // A transaction, or the application, has chosen the connection.
    async #queryBound(statement: CompiledStatement): Promise<unknown> {
      const split = splitOf(this.client);
      const { connection } = this;
      if (split === undefined || connection === undefined) return super.query(statement);

      const lease = split.dispatcher.leaseOf(connection);
      if (lease !== undefined) statement.rwSplit = describeRoute(lease);
      // Not awaited before the statement is sent: statements of a transaction keep their order.
      const noted = noteBoundStatement(split, connection, statement, this.client, this.builder);
      try {
        return await super.query(statement);
      } finally {
        if (noted !== undefined) await noted;
      }
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

    // Knex emits `start` when it has a connection; here the text decides which, and a listener of
    // `start` may still change the builder. As in Knex, a stream has no `start`.
    #compile(request: StreamRequest | undefined): Compiled {
      const { client, builder } = this;
      if (request === undefined) {
        client.emit('start', builder);
        builder.emit('start', builder);
      }
      const compiled = builder.toSQL();
      if (request?.hasHandler === true && isList(compiled)) {
        throw new Error('The stream may only be used with a single query statement.');
      }
      if (request === undefined && builder._debug === true) client.logger.debug?.(compiled);
      return compiled;
    }

    async #runOnOwn(
      split: RWSplit,
      wanted: StatementRequest,
      compiled: Compiled,
      request: StreamRequest | undefined,
    ): Promise<unknown> {
      const leased = split.lease(wanted);
      const lease = leased instanceof Promise ? await this.#whenLeased(leased, compiled) : leased;
      lease.mayRetry = !isList(compiled);
      return this.#runWith(split, lease, wanted, compiled, request);
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
      lease.onMove = (connection) => {
        this.connection = connection;
      };

      try {
        lease.text = isList(compiled) ? compiled.map(textOf).join(';\n') : textOf(compiled);
        if (verdict !== undefined) {
          lease.changesCatalog = verdict.changesCatalog;
          noteSessionEffect(split, lease.connection, verdict, lease.text);
        }
        if (request !== undefined) return await this.#send(compiled, request);
        return await (isList(compiled) ? this.queryArray(compiled) : this.query(compiled));
      } finally {
        const released = lease.release();
        if (released !== undefined) await released;
      }
    }

    #send(compiled: Compiled, { stream, options }: StreamRequest): unknown {
      // Closed while it waited for its connection: Knex would send the query all the same.
      if (stream.destroyed) return undefined;
      try {
        return this.client.stream(this.connection, compiled, stream, options);
      } catch (error) {
        stream.emit('error', error);
        throw error;
      }
    }

    async #unlock(
      split: RWSplit,
      wanted: StatementRequest,
      compiled: Compiled,
      kept: readonly KeptConnection[],
      request: StreamRequest | undefined,
    ): Promise<unknown> {
      const [first, ...others] = kept.toReversed();
      const use = wanted.verdict?.lockUse;
      if (first === undefined || use === undefined) {
        return this.#runOnOwn(split, wanted, compiled, request);
      }
      let end: (() => void) | undefined;
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const route = { ...split.dispatcher.route(wanted), reason: 'unlocks where it was locked' };
      const lease = split.dispatcher.adopt(route, first, wanted, () => end?.());
      const only = isList(compiled) && compiled.length === 1 ? compiled[0] : compiled;
      const isAlone = request === undefined && only !== undefined && !isList(only);
      lease.unlock = { use, isBare: isAlone && isBareUnlock(textOf(only)), others };
      split.announce(lease);
      const run = this.#runWith(split, lease, wanted, compiled, request);
      // Knex never says that a stream ended which was closed early.
      return request === undefined ? run : Promise.race([run, ended]);
    }
  };
}

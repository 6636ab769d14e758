import type { SQLQuery } from '@databases/sql';
import type { Knex } from 'knex';
import { systemClock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import type { RWSplitEvents } from '../events.ts';
import type { Host } from '../hosts/host.ts';
import type { StateOptions } from '../config/state-options.ts';
import { derivedInstance } from './derived-instance.ts';
import { explainQuery } from './explain.ts';
import type { Explanation } from './explain.ts';
import { snapshot } from './host-snapshot.ts';
import type { HostSnapshot } from './host-snapshot.ts';
import { requireState } from './require-state.ts';
import type { RWSplit } from './rw-split.ts';
import { openSession, tokenOf } from './open-session.ts';
import type { DrainOptions } from './drain-options.ts';
import { started, startInScope } from './start-in-scope.ts';
import type { SessionOptions } from './session-options.ts';
import { inSession } from './session-scope.ts';
import type { SplitState } from './split-state.ts';
import { rawFromTemplate } from './sql-query.ts';
import { inWanted, readWanted } from './wanted.ts';

/** What a Knex instance that splits can do beyond Knex; made by {@link rwSplit}. */
export class RWSplitHandle {
  readonly #db: Knex;
  readonly #state: SplitState;

  constructor(db: Knex, state: SplitState) {
    this.#db = db;
    this.#state = state;
  }

  /** What is known of each host at this moment, the presumed primary first. */
  hosts(): HostSnapshot[] {
    const { hosts, elected } = this.#split.cluster;
    return hosts.map((host) => snapshot(host, elected));
  }

  /**
   * Probes every host now, beside the probes that come by themselves.
   *
   * @returns how many hosts are up.
   */
  async checkNow(): Promise<number> {
    return this.#split.watch.checkNow();
  }

  /** Where a query would go, and why; nothing is run. */
  async explain(query: Knex.QueryBuilder | Knex.Raw | Knex.SchemaBuilder): Promise<Explanation> {
    return explainQuery(this.#split, query);
  }

  /** Runs `fn`, and whatever it starts, with every statement on the primary. */
  onPrimary<T>(fn: () => PromiseLike<T>): Promise<T>;
  onPrimary<T>(fn: () => T): T;
  onPrimary(fn: () => unknown): unknown {
    return startInScope({ target: 'primary' }, fn);
  }

  /**
   * Runs `fn`, and whatever it starts, with reads on replicas only: never on the primary, whatever
   * `fallback` says. Writes and read-write transactions go where they always go.
   */
  onReplica<T>(fn: () => PromiseLike<T>): Promise<T>;
  onReplica<T>(fn: () => T): T;
  onReplica(fn: () => unknown): unknown {
    return startInScope({ target: 'replica' }, fn);
  }

  /**
   * Runs `fn`, and whatever it starts, in a session: its reads see all that was written in it, by
   * this client or, `after` a token, by another one. Inside of another session it sees that one's
   * writes, too; what is written outside of any belongs to the session of the client as a whole.
   *
   * @throws {InvalidTokenError} when the token can't be believed.
   * @throws {ConfigError} when an option can't be used as written.
   */
  session<T>(options: SessionOptions, fn: () => PromiseLike<T>): Promise<T>;
  session<T>(options: SessionOptions, fn: () => T): T;
  session(options: SessionOptions, fn: () => unknown): unknown {
    const session = openSession(this.#state, options);
    return inSession(this.#state, session, () => started(fn));
  }

  /**
   * What the session that the caller is in has written, for `session({ after: token }, fn)` in
   * another process: safe in cookies, headers and URLs. Undefined before it has written anything.
   */
  token(): string | undefined {
    return tokenOf(this.#state);
  }

  /**
   * Gives a Knex instance over the same pools whose statements run in a session state, beside what
   * this one wants: transactions, streams, schema builders and migrations, too.
   *
   * Cheap enough to be called for each request; its listeners are its own, and those of this
   * instance hear it, too.
   *
   * @throws {ConfigError} when an option can't be used as written, or for a transaction.
   * @example
   * const tenant = rwSplit(db).withState({ searchPath: ['tenant_7'], role: 'tenant_7' });
   * await tenant('orders').where({ id });
   */
  withState(state: StateOptions): Knex {
    return derivedInstance(this.#db, this.#state, readWanted(this.#state, state));
  }

  /**
   * Runs `fn`, and whatever it starts, with every statement in a session state, beside what is
   * wanted already.
   *
   * @throws {ConfigError} when an option can't be used as written.
   */
  inState<T>(state: StateOptions, fn: () => PromiseLike<T>): Promise<T>;
  inState<T>(state: StateOptions, fn: () => T): T;
  inState(state: StateOptions, fn: () => unknown): unknown {
    return inWanted(this.#state, readWanted(this.#state, state), () => started(fn));
  }

  /**
   * Runs a `sql` template of `@databases/sql` and answers with its rows; routed like any raw text.
   *
   * @example
   * await rwSplit(db).query(sql`select * from orders where id = ${id}`);
   */
  async query<Row = Record<string, unknown>>(query: SQLQuery): Promise<Row[]> {
    const { rows }: { rows: Row[] } = await rawFromTemplate(this.#db, query);
    return rows;
  }

  /**
   * Stops using a host for what comes, and waits for what runs on it.
   *
   * @param timeoutMillis how long to wait, in milliseconds.
   * @returns whether nothing runs on the host any more.
   * @throws {ConfigError} when no host has that name.
   */
  async drain(host: string, { timeoutMillis = 30_000 }: DrainOptions = {}): Promise<boolean> {
    const drained = this.#find(host);
    this.#split.cluster.setDraining(drained, true);
    return drained.idle(timeoutMillis, systemClock);
  }

  /**
   * Uses a drained host again.
   *
   * @throws {ConfigError} when no host has that name.
   */
  readmit(host: string): void {
    this.#split.cluster.setDraining(this.#find(host), false);
  }

  /** Listens to an event. */
  on<E extends keyof RWSplitEvents>(event: E, listener: Listener<E>): this {
    // Node types a listener by a condition on E that TypeScript leaves open in here.
    this.#state.events.on(event, listener as never);
    return this;
  }

  /** Stops listening to an event. */
  off<E extends keyof RWSplitEvents>(event: E, listener: Listener<E>): this {
    this.#state.events.off(event, listener as never);
    return this;
  }

  get #split(): RWSplit {
    const { split } = this.#state;
    if (split === undefined) throw new Error('Unable to use a Knex instance that was destroyed');
    return split;
  }

  #find(name: string): Host {
    const host = this.#split.cluster.host(name);
    if (host !== undefined) return host;

    const known = this.#split.cluster.hosts.map((candidate) => candidate.name).join(', ');
    throw new ConfigError('host', `No host is named "${name}"; there are ${known}.`);
  }
}

/** A listener of an event of {@link RWSplitHandle}. */
export type Listener<E extends keyof RWSplitEvents> = (...args: RWSplitEvents[E]) => void;

/**
 * The handle of a Knex instance, transaction or clone whose client splits.
 *
 * @throws {ConfigError} when its client doesn't: no RWSplitClient, or one without `rwSplit`.
 */
export function rwSplit(db: Knex): RWSplitHandle {
  return new RWSplitHandle(db, requireState(db));
}

import type { knex, Knex } from 'knex';
import type { Connection } from '../hosts/host.ts';
import type { LeaseDescription } from '../routing/lease.ts';

/**
 * Everything this library knows about the inside of Knex.
 *
 * Knex types its public entry point only, so the shapes below are those of the members that are
 * used here and of no others. No other module casts a Knex object, and none imports `knex/lib/*`:
 * the classes are reached through Knex's public API, so that any copy of Knex will do.
 * `test/unit/knex/internals.test.ts` fails when a Knex release changes a member declared here.
 */
export interface CompiledStatement {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  /** `select`, `insert`, `raw`, …; absent on the statements of a schema builder. */
  readonly method?: string | undefined;
  /** What `builder.options()` gives to the driver; a `text` there is sent instead of `sql`. */
  readonly options?: { readonly text?: unknown } | undefined;
  /** The time limit of the query, in milliseconds; false or undefined without one. */
  readonly timeout?: number | false | undefined;
  queryContext?: unknown;
  /** Ours: where the statement runs. Knex copies it into its `query*` events. */
  rwSplit?: LeaseDescription | undefined;
  response?:
    | { readonly rows?: readonly unknown[] | undefined; readonly command?: string | undefined }
    | undefined;
}

/** A query, schema or raw builder, as the runner sees it. */
export interface Executable {
  readonly client: PgClient;
  toSQL(): CompiledStatement | readonly CompiledStatement[];
  queryContext(): unknown;
  emit(event: string, ...args: unknown[]): boolean;
  listenerCount(event: string): number;
  readonly _connection?: Connection | undefined;
  readonly _debug?: boolean | undefined;
  /** Of raw text. */
  readonly bindings?: unknown;
  /** What `clone()` copies of a query builder; other builders have none. */
  _single?: object | undefined;
}

/** What `Runner.stream` hands to `ensureConnection`. */
export interface StreamRequest {
  readonly options: unknown;
  readonly hasHandler: boolean;
  readonly stream: NodeJS.ReadWriteStream & {
    readonly destroyed: boolean;
    readonly readableEnded: boolean;
  };
}

/** `knex/lib/execution/runner.js` */
export declare class Runner {
  constructor(client: PgClient, builder: Executable);
  client: PgClient;
  readonly builder: Executable;
  connection: Connection | undefined;
  run(): Promise<unknown>;
  stream(...args: unknown[]): unknown;
  query(statement: CompiledStatement): Promise<unknown>;
  queryArray(statements: readonly CompiledStatement[]): Promise<unknown>;
  ensureConnection(
    callback: (runner: Runner, request?: StreamRequest) => unknown,
    request?: StreamRequest,
  ): Promise<unknown>;
}

/** `knex/lib/dialects/postgres`: what Knex's public `Client` type leaves out. */
export declare class PgClient extends knex.Client {
  /** Set on the derived client that Knex makes for each transaction. */
  readonly transacting?: boolean;
  searchPath?: unknown;
  positionBindings(sql: string): string;
  processResponse(statement: CompiledStatement, runner: Runner): unknown;
  _query(connection: Connection, statement: CompiledStatement): Promise<CompiledStatement>;
  _stream(
    connection: Connection,
    statement: CompiledStatement,
    stream: StreamRequest['stream'],
    options: unknown,
  ): Promise<unknown>;
  // Knex types it as void, and awaits what it returns.
  // oxlint-disable-next-line typescript/no-explicit-any
  override cancelQuery(connection?: Connection): any;
  override runner(builder: Executable): Runner;
}

/** `knex/lib/execution/transaction.js` */
export interface Transaction extends Knex.Transaction {
  readonly txid: string;
  /** What its statements are sent by; made as soon as it has its connection. */
  readonly trxClient?: PgClient | undefined;
  acquireConnection(
    config: TransactionConfig | undefined,
    use: (connection: TransactionConnection) => Promise<unknown>,
  ): Promise<unknown>;
}

/** What `knex.transaction(fn, config)` was given. */
export interface TransactionConfig {
  readonly connection?: Connection | undefined;
  readonly readOnly?: boolean | undefined;
  readonly isolationLevel?: string | undefined;
}

/** A connection as Knex marks it during a transaction. */
export type TransactionConnection = Connection & { __knexTxId?: string | undefined };

/** A class whose instances run what they do on one Knex instance: the migrator and the seeder. */
export interface KnexTask {
  readonly prototype: { knex: { readonly client: Knex.Client } };
}

/** The classes of one copy of Knex. */
export interface KnexClasses {
  readonly PgDialect: typeof PgClient;
  readonly KnexRunner: typeof Runner;
  readonly KnexTimeoutError: new (message: string) => Error;
  readonly Migrator: KnexTask;
  readonly Seeder: KnexTask;
  readonly makeKnex: typeof knex;
}

/** What makes an instance of some copy of Knex, whose types need not be those of this one. */
export type MakeKnex = (config: never) => object;

/** Knex, however it was imported: the function, or the module that holds it. */
export type KnexPackage = MakeKnex | { readonly knex: MakeKnex };

/** A dialect of a copy of Knex. */
export type PgDialectOf = new (...args: never[]) => object;

/**
 * Finds the classes that a copy of Knex itself uses, or has with a dialect that extends its own;
 * makes no pool and loads no driver.
 */
export function knexClasses(knexPackage: KnexPackage, Dialect?: PgDialectOf): KnexClasses {
  const makeKnex = ('knex' in knexPackage ? knexPackage.knex : knexPackage) as typeof knex;
  const plain = makeKnex({ client: (Dialect as typeof PgClient | undefined) ?? 'pg' });
  const client = plain.client as PgClient;
  return {
    PgDialect: client.constructor as typeof PgClient,
    KnexRunner: client.runner(plain.raw('') as unknown as Executable).constructor as typeof Runner,
    KnexTimeoutError: (makeKnex as unknown as Pick<KnexClasses, 'KnexTimeoutError'>)
      .KnexTimeoutError,
    Migrator: plain.migrate.constructor,
    Seeder: plain.seed.constructor,
    makeKnex,
  };
}

/** The client behind a Knex instance or transaction. */
export function clientOf(db: Knex): PgClient {
  return db.client as PgClient;
}

/** Makes the Knex instance of a client that is there already. */
export function instanceOf(client: PgClient, makeKnex: typeof knex): Knex {
  // Knex makes the client of an instance by `new`, which answers with what this returns.
  const Given = function Given(): PgClient {
    return client;
  };
  return makeKnex({ client: Given as unknown as typeof PgClient });
}

/** What the methods of a Knex instance are called on. */
interface KnexContext {
  withUserParams: (this: unknown, params: object) => Knex;
  batchInsert: (this: unknown, ...args: readonly unknown[]) => unknown;
}

/** Finds what the methods of a Knex instance are called on. */
export function contextOf(db: Knex): KnexContext {
  return (db as unknown as { context: KnexContext }).context;
}

/** The builder behind what Knex's public types call a builder. */
export function executable(builder: unknown): Executable {
  return builder as Executable;
}

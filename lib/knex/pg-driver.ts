/** A message of the server, as `pg` parses it. */
export interface Message {
  /** Of a row. */
  readonly fields?: readonly (string | null)[];
  /** Of `readyForQuery`: `I` outside of transactions. */
  readonly status?: string;
  /** Of an error: `FATAL` where the session ends with it. */
  readonly severity?: string | undefined;
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** The messages of `pg`'s connection, as far as they are used here. */
export interface Wire {
  readonly stream: { cork?(): void; uncork?(): void; destroy(): void };
  on?(event: 'parameterStatus', listener: (status: ParameterStatus) => void): unknown;
  on?(event: 'readyForQuery', listener: (message: Message) => void): unknown;
  on?(event: 'errorMessage', listener: (error: { readonly code?: string }) => void): unknown;
  emit(event: string, ...args: unknown[]): boolean;
  parse(query: { readonly text: string }): void;
  bind(config: { readonly values: readonly (string | null)[] }): void;
  execute(config: { readonly portal: string; readonly rows: number }): void;
  sync(): void;
}

/** A query of `pg`, or of a package like `pg-cursor`. */
export interface Submittable {
  readonly text?: unknown;
  readonly cursor?: { readonly text?: unknown } | undefined;
  callback?: QueryCallback | undefined;
  /** Whether values come in PostgreSQL's binary form. */
  binary?: unknown;
  submit(wire: Wire): Error | null | undefined;
  requiresPreparation?(): boolean;
  handleError(error: unknown, wire: Wire): void;
}

/** What the driver calls with the outcome of a query. */
export type QueryCallback = (error: unknown, result?: unknown) => void;

/** A client of `pg`, as far as its members are used here; those of other drivers may be fewer. */
export declare class DriverClient {
  static readonly Query?: new (
    config: unknown,
    values?: unknown,
    callback?: unknown,
  ) => Submittable & { query_timeout?: unknown };
  constructor(settings: unknown);
  readonly connection?: Wire | undefined;
  readonly _activeQuery?: unknown;
  readonly _queryQueue?: readonly object[];
  /** As older ones call it. */
  readonly queryQueue?: readonly object[];
  getTransactionStatus?(): string | null;
  connect?(...args: readonly unknown[]): unknown;
  query(...args: readonly unknown[]): unknown;
}

/** `pg`, or what stands for it. */
export interface Driver {
  readonly Client: typeof DriverClient;
}

/** Whether an argument of `client.query()` is a query made already. */
export function isSubmittable(query: unknown): query is Submittable {
  return typeof (query as Partial<Submittable> | null | undefined)?.submit === 'function';
}

/** Whether the arguments of `client.query()` are a text that names parameters, and no values for them. */
export function lacksValues([query, values]: readonly unknown[]): boolean {
  if (isSubmittable(query) || !/\$\d/.test(textToSend(query) ?? '')) return false;
  const given = Array.isArray(values) ? values : (query as { readonly values?: unknown }).values;
  return !Array.isArray(given) || given.length === 0;
}

/** The text of what is given to `client.query()`; undefined where it can't be told. */
export function textToSend(query: unknown): string | undefined {
  if (typeof query === 'string') return query;
  const { text, cursor } = query as Submittable;
  const own = text ?? cursor?.text;
  return typeof own === 'string' ? own : undefined;
}

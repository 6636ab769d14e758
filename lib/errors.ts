import { isNativeError } from 'util/types';

/** The stable, machine-readable name of an error of this library. */
export type RWSplitErrorCode =
  | 'RWSPLIT_CONFIG'
  | 'RWSPLIT_NO_HOST'
  | 'RWSPLIT_STALE'
  | 'RWSPLIT_TOKEN'
  | 'RWSPLIT_READ_ONLY'
  | 'RWSPLIT_STATE';

/** What led to an error; `ErrorOptions` for applications whose `lib` is older than ES2022. */
export interface CausedBy {
  readonly cause?: unknown;
}

/** The base of every error that this library itself raises; PostgreSQL's and Knex's own pass through. */
export class RWSplitError extends Error {
  /** Stable across releases; messages are not. */
  readonly code: RWSplitErrorCode;

  constructor(code: RWSplitErrorCode, message: string, options?: CausedBy) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An option that cannot be used as written; nothing was opened. */
export class ConfigError extends RWSplitError {
  /** Where the value stands, as in `rwSplit.replicas[1].weight`. */
  readonly path: string;

  constructor(path: string, message: string, options?: CausedBy) {
    super('RWSPLIT_CONFIG', message, options);
    this.path = path;
  }
}

/** Why one host could not serve a statement. */
export interface HostFailure {
  readonly name: string;
  /**
   * What kept the host from serving: `unreachable`, `starting`, `misconfigured`, `is draining`,
   * `is a replica`, `is a primary`, `lags …`, …: words that follow its name.
   */
  readonly state: string;
  readonly lastError?: Error | undefined;
}

/** No host could serve the statement; each one's own cause is in {@link NoHostAvailableError.hosts}. */
export class NoHostAvailableError extends RWSplitError {
  readonly intent: string;
  readonly hosts: readonly HostFailure[];

  constructor(intent: string, hosts: readonly HostFailure[], advice: string) {
    const each = hosts.map(({ name, state, lastError }) =>
      lastError === undefined ? `${name} ${state}` : `${name} ${state} (${describe(lastError)})`,
    );
    const cause = hosts.find((host) => host.lastError !== undefined)?.lastError;
    super(
      'RWSPLIT_NO_HOST',
      `No host can serve this ${intent}: ${each.join(', ') || 'none is configured'}. ${advice}`,
      cause === undefined ? undefined : { cause },
    );
    this.intent = intent;
    this.hosts = hosts;
  }
}

/** A hint asked for a replica, but the statement is a proved write; it was not sent. */
export class ReadOnlyHostError extends RWSplitError {
  constructor(message: string) {
    super('RWSPLIT_READ_ONLY', message);
  }
}

/** No replica had reached what the session has to see, and no primary was there to ask instead. */
export class StaleReplicasError extends RWSplitError {
  constructor(message: string, options?: CausedBy) {
    super('RWSPLIT_STALE', message, options);
  }
}

/** A session's token cannot be believed; its message says why and shows nothing of the token. */
export class InvalidTokenError extends RWSplitError {
  constructor(message: string, options?: CausedBy) {
    super('RWSPLIT_TOKEN', message, options);
  }
}

/** A statement would leave, or needs, session state that a pooled connection cannot have; it was not sent. */
export class SessionStateError extends RWSplitError {
  /** The settings that the server refused to change, one of them at least; empty for another reason. */
  readonly settings: readonly string[];

  constructor(message: string, { settings = [], ...options }: SessionStateErrorOptions = {}) {
    super('RWSPLIT_STATE', message, options);
    this.settings = settings;
  }
}

/** What a {@link SessionStateError} is made with. */
export interface SessionStateErrorOptions extends CausedBy {
  readonly settings?: readonly string[];
}

// An AggregateError (a host name with several addresses) has an empty message of its own.
function describe(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return error.message || code || error.name;
}

/** Makes an error of whatever was thrown; one of another realm, such as a test runner's, is one already. */
export function asError(thrown: unknown): Error {
  return isNativeError(thrown) ? thrown : new Error(String(thrown));
}

/** Copies an error with all its fields: Knex and others write into those that they meet. */
export function copyError(error: Error): Error {
  // Made of an error, as what only inherits from one is none for Node.
  const copy = new Error(error.message);
  const prototype: object | null = Object.getPrototypeOf(error);
  Object.setPrototypeOf(copy, prototype);
  Object.defineProperties(copy, Object.getOwnPropertyDescriptors(error));
  // From Node 21 on it is an accessor, which answers for the error that it is asked of.
  return Object.defineProperty(copy, 'stack', {
    value: error.stack,
    writable: true,
    configurable: true,
  });
}

import type { ConsistencyMode } from '../config/consistency-options.ts';

/** The cookie that carries a session from one request to the next. */
export interface SessionCookieOptions {
  /**
   * Its name, such as `'position'`. Browsers keep one of a name that begins with `__Host-` only if it
   * is `secure`, of the path `'/'` and without `domain`; anything else is a `ConfigError`.
   */
  readonly name: string;
  /**
   * Milliseconds for which the cookie is kept and its token believed. It has to outlast the lag of
   * replicas that serve, as `maxLag` allows it: a write that is older than the cookie may be missed.
   * Longer costs nothing but a few bytes of each request.
   *
   * @default 300_000
   */
  readonly maxAgeMillis?: number | undefined;
  /**
   * The requests that bring it.
   *
   * @default '/'
   */
  readonly path?: string | undefined;
  /** Shares it with the subdomains of this domain; without, only the host that set it gets it back. */
  readonly domain?: string | undefined;
  /**
   * Whether browsers keep and send it over HTTPS only. `false` is for development over plain HTTP.
   *
   * @default true
   */
  readonly secure?: boolean | undefined;
  /**
   * The requests from other sites that bring it: `'lax'`: those that follow a link; `'strict'`:
   * none; `'none'`: all, over HTTPS only.
   *
   * @default 'lax'
   */
  readonly sameSite?: 'lax' | 'strict' | 'none' | undefined;
}

/** How the sessions of requests read, and who vouches for their tokens. */
export interface RequestSessionOptions {
  /**
   * Signs tokens; of a list the first signs and all are believed. By default that of the client,
   * `consistency.token.secret`: one of the two is required.
   */
  readonly secret?: string | readonly string[] | undefined;
  /** What reads see of earlier writes; by default as the client says. */
  readonly consistency?: ConsistencyMode | undefined;
  /** Milliseconds that a read waits for a replica to catch up; by default as the client says. */
  readonly waitMillis?: number | undefined;
  /** Whether a read never sees an older state than the one before; by default as the client says. */
  readonly monotonic?: boolean | undefined;
}

/**
 * How requests bring and take the token of their session: in a cookie, or in a header of that name,
 * which must mean nothing else in HTTP.
 */
export type TokenCarrierOptions =
  | { readonly cookie: string | SessionCookieOptions; readonly header?: undefined }
  | { readonly header: string; readonly cookie?: undefined };

/** What `sessionMiddleware` is told. */
export type SessionMiddlewareOptions = RequestSessionOptions & TokenCarrierOptions;

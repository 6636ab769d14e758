/**
 * What reads see of earlier writes: `'session'`: all that their session wrote; `'eventual'`: what a
 * replica has; `'strong'`: the primary's own state.
 */
export type ConsistencyMode = 'session' | 'eventual' | 'strong';

/** What reads see of earlier writes, and how long they wait for it. */
export interface ConsistencyOptions {
  /**
   * What a read sees: by `'session'` all that its session wrote, on a replica that has it, else on the
   * primary; by `'eventual'` what a replica has, however late within `maxLag`; by `'strong'` the
   * primary's own state. A scope `session({ consistency })` and the `consistency` of a query's context
   * go before it. With the target `'any'` only `'eventual'` is possible, and the default; with
   * `'replica'` not `'strong'`: else it is a `ConfigError`.
   *
   * @default 'session'
   */
  mode?: ConsistencyMode | undefined;
  /**
   * Milliseconds that a read waits for a replica that has what it needs, before the primary serves it;
   * 0 does not wait. It takes reads off the primary and makes those that wait slower. Where the primary
   * may not serve a read, `failover.waitMillis` counts instead. A negative number is a `ConfigError`.
   *
   * @default 0
   */
  waitMillis?: number | undefined;
  /**
   * Whether a read never sees an older state than the read before it in the same session, whichever
   * replicas serve them. Each read then brings its position along, and one that follows a read on the
   * primary may have to go there, too.
   *
   * @default false
   */
  monotonic?: boolean | undefined;
  /** The tokens that carry a session elsewhere. */
  token?: TokenOptions | undefined;
}

/** How the tokens of sessions are signed, and how long they are believed. */
export interface TokenOptions {
  /**
   * Signs tokens, by HMAC-SHA256; of a list the first signs, and all are believed. With one, a token
   * that none of them signed is an `InvalidTokenError`; without any, one that is signed is. An empty
   * string or list is a `ConfigError`. `sessionMiddleware` needs one, here or of its own.
   */
  secret?: string | readonly string[] | undefined;
  /**
   * Milliseconds for which a token is believed, from when it was issued; clocks may differ by a minute.
   * An older one is an `InvalidTokenError`. It has to outlast the lag of replicas that serve: who drops
   * a token that is too old may miss what it told of.
   *
   * @default 3600000
   */
  maxAgeMillis?: number | undefined;
}

/** What reads see: every write of their session, whatever a replica has, or the primary's state. */
export type ConsistencyMode = 'session' | 'eventual' | 'strong';

/** What reads see of earlier writes. Accepted and validated; in this version all reads are eventual. */
export interface ConsistencyOptions {
  /**
   * With the target `'any'` only `'eventual'` is possible, and the default.
   *
   * @default 'session'
   */
  mode?: ConsistencyMode | undefined;
  /**
   * Milliseconds that a read waits for a replica to catch up before it runs elsewhere; 0 does not
   * wait.
   *
   * @default 0
   */
  waitMillis?: number | undefined;
  /**
   * Whether a read never sees an older state than the read before it in the same session.
   *
   * @default false
   */
  monotonic?: boolean | undefined;
  /** The tokens that carry a session elsewhere. */
  token?: TokenOptions | undefined;
}

/** How consistency tokens are signed and how long they are believed. Accepted and validated; has no effect in this version. */
export interface TokenOptions {
  /** Signs tokens, and refuses unsigned ones; of a list the first signs and all are believed. */
  secret?: string | readonly string[] | undefined;
  /**
   * Milliseconds for which a token is believed.
   *
   * @default 3600000
   */
  maxAgeMillis?: number | undefined;
}

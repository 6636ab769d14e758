import type { Knex } from 'knex';

/** The settings of one connection as `pg` knows them; each may come from the environment as `undefined`. */
export type ConnectionOptions = {
  [Setting in Exclude<keyof Knex.PgConnectionConfig, 'expirationChecker' | 'port'>]?:
    Knex.PgConnectionConfig[Setting] | undefined;
} & {
  /** The server's TCP port, a number or its digits. */
  port?: number | string | undefined;
  /** The encoding of texts on the wire. */
  client_encoding?: string | undefined;
  /** Used where `application_name` is not given. */
  fallback_application_name?: string | undefined;
  /** Milliseconds that a statement waits for a lock on the server. */
  lock_timeout?: number | undefined;
  /** How TLS begins: asked for as PostgreSQL always did, or at once. */
  sslnegotiation?: 'postgres' | 'direct' | undefined;
  /** Ties the password's proof to the TLS connection. */
  enableChannelBinding?: boolean | undefined;
};

/**
 * One replica.
 *
 * It inherits every setting of `connection` that it does not override; one that it does override,
 * such as `ssl`, is replaced as a whole.
 */
export type HostOptions = ConnectionOptions & {
  /**
   * What errors, events and hints call the host; unique within the cluster.
   *
   * By default `host:port`, or `replica-<n>` where only a function knows the address.
   */
  name?: string | undefined;
  /**
   * The host's share of the reads relative to the others. Must be finite and ≥ 0; at 0 the host
   * serves only when no other can.
   *
   * @default 1
   */
  weight?: number | undefined;
  /**
   * Words that queries may choose the host by.
   *
   * @default []
   */
  tags?: readonly string[] | undefined;
  /** Settings of the host's own pool, laid over Knex's `pool`. */
  pool?: Knex.PoolConfig | undefined;
};

/** What a function that stands for a host answers: connection settings or a URL. */
export type HostAnswer =
  | string
  | (ConnectionOptions & {
      /** Says whether the answer is out of date, so that the next connection asks again. */
      expirationChecker?: (() => boolean) | undefined;
    });

/** Answers with the connection of one host, for credentials that expire. */
export type HostFunction = () => HostAnswer | Promise<HostAnswer>;

/**
 * Answers with the cluster's replicas: asked before the first query, and then in the background every
 * `discovery.intervalMillis`. Where it fails, or names none any more, the last list stays.
 */
export type ReplicaDiscovery = () => Promise<readonly Host[]>;

/** A replica in any of its forms: settings, a URL, or a function that answers with either. */
export type Host = HostOptions | string | HostFunction;

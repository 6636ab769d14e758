import { ClusterError } from './cluster-error.ts';
import type { HostConnection } from './host-connection.ts';
import type { Server } from './server.ts';
import { type Leadership, TestHost } from './test-host.ts';

/** Where the hosts of a cluster are, the primary first, and who may use them. */
export interface ClusterParts {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly hasStatementStatistics: boolean;
  readonly addresses: readonly ClusterAddress[];
  /** Ends what was started. */
  readonly stop: () => Promise<void>;
}

/** Where one host is. */
export interface ClusterAddress {
  readonly host: string;
  readonly port: number;
  /** Absent where the server was not started here. */
  readonly server?: Server | undefined;
}

/** A PostgreSQL primary and its streaming replicas, for tests, demos and benchmarks. */
export class Cluster {
  /** Every host in the order of their names: `primary`, `replica-1`, `replica-2`, …. */
  readonly hosts: readonly TestHost[];
  /** A superuser of every host. */
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Whether the view `pg_stat_statements` counts statements in {@link database} and in databases made later. */
  readonly hasStatementStatistics: boolean;
  readonly #leadership: Leadership = { primary: undefined, promotions: 0 };
  readonly #stop: () => Promise<void>;

  constructor({ user, password, database, addresses, ...parts }: ClusterParts) {
    this.user = user;
    this.password = password;
    this.database = database;
    this.hasStatementStatistics = parts.hasStatementStatistics;
    this.#stop = parts.stop;
    this.hosts = addresses.map(({ host, port, server }, index) => {
      const name = index === 0 ? 'primary' : `replica-${index}`;
      const connection = { host, port, user, password, database };
      return new TestHost(name, connection, this.#leadership, server);
    });
  }

  /** The host that leads: the first one, or the one promoted last. */
  get primary(): TestHost {
    const { primary } = this.#leadership;
    if (primary === undefined) throw new ClusterError('A cluster needs at least one host.');
    return primary;
  }

  /** Every host but the primary. */
  get replicas(): readonly TestHost[] {
    return this.hosts.filter((host) => host !== this.primary);
  }

  /** All hosts in one URL, the primary first. */
  get url(): string {
    const user = `${encodeURIComponent(this.user)}:${encodeURIComponent(this.password)}`;
    const hosts = [this.primary, ...this.replicas].map(({ host, port }) =>
      host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
    );
    return `postgres://${user}@${hosts.join(',')}/${encodeURIComponent(this.database)}`;
  }

  /** How to connect to a host, by default the primary: a `connection` for both Knex and pg. */
  connection(host: TestHost = this.primary): HostConnection {
    return { ...host.connection };
  }

  /**
   * Waits until every running replica of the primary has replayed all that it has written so far.
   *
   * @throws {ClusterError} when that takes longer than `timeoutMillis`.
   */
  async waitForReplay(timeoutMillis?: number): Promise<void> {
    const replicas = this.replicas.filter((host) => host.isRunning && host.isFollowing);
    await Promise.all(replicas.map((replica) => replica.waitForReplay(timeoutMillis)));
  }

  /** Ends every server and removes every file; leaves a cluster alone that was not started here. */
  async stop(): Promise<void> {
    await this.#stop();
  }
}

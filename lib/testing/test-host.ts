import { ClusterError } from './cluster-error.ts';
import { copyRunningData } from './data-folder.ts';
import type { HostConnection, Row } from './host-connection.ts';
import * as replication from './replication.ts';
import type { Server } from './server.ts';
import { runStatement } from './session.ts';

const replayMillis = 10_000;

/** Who leads; shared by the hosts of one cluster. */
export interface Leadership {
  /** Undefined only until the first host is made, which is the primary. */
  primary: TestHost | undefined;
  /** How many there were; after each, no host follows until it rejoins. */
  promotions: number;
}

/** One server of a test cluster, and the verbs for what can happen to it. */
export class TestHost {
  /** `primary`, `replica-1`, `replica-2`, …: its role at first, and its `cluster_name`; a promotion changes neither. */
  readonly name: string;
  /** How to connect to the host, for Knex and pg alike. */
  readonly connection: HostConnection;
  /** Its database `postgres`: the cluster's own may not have come here yet. */
  readonly #maintenance: replication.NamedConnection;
  readonly #leadership: Leadership;
  readonly #server: Server | undefined;
  /** How many promotions there had been when its data was made. */
  #promotionsBefore: number;
  #cutSource: string | undefined;

  constructor(
    name: string,
    connection: HostConnection,
    leadership: Leadership,
    server: Server | undefined,
  ) {
    this.name = name;
    this.connection = connection;
    this.#maintenance = { name, connection: { ...connection, database: 'postgres' } };
    this.#leadership = leadership;
    this.#server = server;
    this.#promotionsBefore = leadership.promotions;
    leadership.primary ??= this;
  }

  get host(): string {
    return this.connection.host;
  }

  get port(): number {
    return this.connection.port;
  }

  /** Whether the server runs and is not hung; always true in a cluster that was not started here. */
  get isRunning(): boolean {
    return this.#server?.isRunning ?? true;
  }

  /** Whether the host is a replica made from the cluster's primary since that one began to lead. */
  get isFollowing(): boolean {
    const { primary, promotions } = this.#leadership;
    return this !== primary && this.#promotionsBefore === promotions;
  }

  /** Runs one statement on a connection of its own, and returns the rows. */
  query<R extends Row>(text: string, values?: readonly unknown[]): Promise<R[]> {
    return runStatement<R>(this.connection, text, values);
  }

  /** Ends every process at once with SIGKILL, as a crash of the machine would. */
  async kill(): Promise<void> {
    await this.#own('kill').kill();
  }

  /** Shuts down in PostgreSQL's fast mode: sessions are told, and ended. */
  async stop(): Promise<void> {
    await this.#own('stop').stop();
  }

  /** Starts a stopped or killed server in the role that its data says, and resolves when it serves. */
  async start(): Promise<void> {
    await this.#own('start').start();
  }

  /** Suspends every process with SIGSTOP: connections stay open, and nothing answers. */
  hang(): void {
    this.#own('hang').hang();
  }

  /** Lets a hung server go on. */
  wake(): void {
    this.#own('wake').wake();
  }

  /** Stops the replay, so that the replica falls behind while it receives. */
  async pauseReplay(): Promise<void> {
    await replication.pauseReplay(this.#maintenance);
  }

  /** Ends {@link pauseReplay}. */
  async resumeReplay(): Promise<void> {
    await replication.resumeReplay(this.#maintenance);
  }

  /** Takes the replica's source away: it serves reads from what it has, and cannot catch up. */
  async cutReplication(): Promise<void> {
    this.#cutSource = await replication.cutReplication(this.#maintenance);
  }

  /** Ends {@link cutReplication}, and resolves when the replica receives again. */
  async restoreReplication(): Promise<void> {
    if (this.#cutSource === undefined) {
      throw new ClusterError(
        `The replication of ${this.name} was not cut: cutReplication() first.`,
      );
    }
    await replication.restoreReplication(this.#maintenance, this.#cutSource);
    this.#cutSource = undefined;
  }

  /**
   * Makes the replica the cluster's primary.
   *
   * The others change nothing: the old primary, if it runs, goes on taking writes, and the replicas
   * follow it until they {@link rejoin}.
   */
  async promote(): Promise<void> {
    await replication.promote(this.#maintenance);
    this.#leadership.promotions++;
    this.#leadership.primary = this;
  }

  /** Makes the host, whatever it was, a replica of the cluster's present primary. */
  async rejoin(): Promise<void> {
    const server = this.#own('rejoin');
    const primary = this.#leadership.primary ?? this;
    if (primary === this) {
      throw new ClusterError(`${this.name} is the primary itself: promote() another host first.`);
    }

    await server.stop('SIGQUIT');
    await copyRunningData(primary.#own('rejoin'), server, primary.#maintenance.connection);
    await server.start();
    this.#promotionsBefore = this.#leadership.promotions;
    this.#cutSource = undefined;
  }

  /**
   * Waits until the replica has replayed all that the primary has written so far.
   *
   * @throws {ClusterError} when that takes longer than `timeoutMillis`, or the host follows another primary.
   */
  async waitForReplay(timeoutMillis: number = replayMillis): Promise<void> {
    const { primary } = this.#leadership;
    if (primary === undefined || primary === this) return;
    if (!this.isFollowing) {
      throw new ClusterError(`${this.name} does not follow ${primary.name}: rejoin() it first.`);
    }
    const position = await replication.writtenPosition(primary.#maintenance);
    await replication.waitUntilReplayed(this.#maintenance, position, timeoutMillis);
  }

  #own(verb: string): Server {
    if (this.#server === undefined) {
      throw new ClusterError(
        `${this.name} was not started here, so ${verb}() cannot reach its processes: start a cluster without RWSPLIT_CLUSTER_URL for that.`,
      );
    }
    return this.#server;
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { RWSplitClient, rwSplit } from '../../lib/index.ts';
import type { ConsistencyMode } from '../../lib/config/consistency-options.ts';
import type { Cluster } from '../../lib/testing/index.ts';

/** A Knex instance that splits, and what the servers themselves say of who was asked. */
export interface Split {
  readonly db: Knex;
  /**
   * The servers that statements were sent to since the last call, one name for each statement.
   *
   * The names are what each connection's own server calls itself, so routing cannot lie about them.
   */
  servers(): string[];
}

/** What makes the Knex instances of a test file. */
export interface Splits {
  /** With nothing opened. */
  cold(config?: Knex.Config): Split;
  /** With a connection to each host: on a busy machine, opening one takes longer than a look-up may. */
  warm(config?: Knex.Config): Promise<Split>;
}

const settleMillis = 5000;

/** A `pg` connection, as Knex marks it. */
interface MarkedConnection {
  readonly __knexUid: string;
  query(text: string): Promise<{ readonly rows: readonly { readonly name: string }[] }>;
}

/**
 * Makes Knex instances for the tests of a file, on the given cluster and with what is given laid
 * over its configuration; each is ended with its test, when every connection has to be back in its
 * pool.
 *
 * @param consistency for tests of where a read goes that has nothing to see: `eventual`.
 */
export function useSplit(cluster: () => Cluster, consistency?: ConsistencyMode): Splits {
  const made: Knex[] = [];

  afterEach(async () => {
    const ended = made.splice(0);
    // A look-up of the catalog that came too late to be waited for may still be running.
    const deadline = performance.now() + settleMillis;
    while (ended.some((db) => usedConnections(db).length > 0) && performance.now() < deadline) {
      await sleep(10);
    }
    const held = ended.flatMap(usedConnections);
    await Promise.all(ended.map((db) => db.destroy()));
    expect(held).toEqual([]);
  });

  const cold = (config: Knex.Config = {}): Split => {
    const names = new Map<string, string>();
    const uids: string[] = [];
    const note = async (connection: MarkedConnection): Promise<void> => {
      const { __knexUid: uid } = connection;
      const { rows } = await connection.query("select current_setting('cluster_name') as name");
      names.set(uid, rows[0]?.name ?? 'unknown');
    };
    const db = knex(configure(cluster(), config, note, consistency));

    made.push(db);
    db.on('query', ({ __knexUid }: MarkedConnection) => uids.push(__knexUid));
    return { db, servers: () => uids.splice(0).map((uid) => names.get(uid) ?? uid) };
  };

  const warm = async (config?: Knex.Config): Promise<Split> => {
    const split = cold(config);
    await openAll(split.db);
    split.servers();
    return split;
  };

  return { cold, warm };
}

/** The replicas of a cluster, to be written under `rwSplit`, each with the name it calls itself. */
export function replicasOf(cluster: Cluster): { name: string; host: string; port: number }[] {
  return cluster.replicas.map(({ name, host, port }) => ({ name, host, port }));
}

/** Lets every host be known, and opens a connection to each. */
export async function openAll(db: Knex): Promise<void> {
  await rwSplit(db).checkNow();
  const hosts = rwSplit(db).hosts();
  await Promise.all(
    hosts.map(({ name: host }) => db.raw('select 1').queryContext({ rwSplit: { host } })),
  );
}

/** The pools with connections in use, or waited for. */
export function usedConnections(db: Knex): string[] {
  // A destroyed instance has none.
  if (db.client.pool === undefined) return [];
  return rwSplit(db)
    .hosts()
    .filter(({ pool }) => pool.used > 0 || pool.pending > 0)
    .map(({ name, pool }) => `${name}: ${pool.used} used, ${pool.pending} pending`);
}

const quiet: Knex.Logger = { warn() {}, error() {}, deprecate() {}, debug() {} };

function configure(
  cluster: Cluster,
  { connection, rwSplit, pool, ...more }: Knex.Config,
  note: (connection: MarkedConnection) => Promise<void>,
  consistency: ConsistencyMode | undefined,
): Knex.Config {
  const replicas = connection === undefined ? { replicas: replicasOf(cluster) } : {};
  return {
    client: RWSplitClient,
    connection: connection ?? cluster.connection(),
    log: quiet,
    ...more,
    pool: {
      min: 0,
      max: 5,
      ...pool,
      afterCreate(connection: MarkedConnection, done: (error?: unknown, ready?: unknown) => void) {
        // Knex's callback is Node's own kind.
        // oxlint-disable-next-line promise/no-callback-in-promise, promise/prefer-await-to-callbacks
        note(connection).then(() => done(undefined, connection), done);
      },
    },
    ...(connection === undefined || rwSplit !== undefined
      ? { rwSplit: { consistency, ...replicas, ...rwSplit } }
      : {}),
  };
}

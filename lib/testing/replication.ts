import { Client } from 'pg';
import { ClusterError } from './cluster-error.ts';
import type { HostConnection } from './host-connection.ts';
import { runStatement, withSession } from './session.ts';
import { until } from './until.ts';

const verbMillis = 10_000;

/** A host as messages name it, and how to reach it. */
export interface NamedConnection {
  readonly name: string;
  readonly connection: HostConnection;
}

// Whole pages are written by themselves, which may end inside of a record; its rest would reach
// nobody before the next commit.
const COMMIT = `begin read write; set local synchronous_commit = local;
  select pg_logical_emit_message(true, 'knex-rwsplit', ''); commit`;

/** Reads the position up to which a primary has written its WAL; every commit lies before it. */
export async function writtenPosition({ connection }: NamedConnection): Promise<string> {
  return withSession(connection, async (session) => {
    await session.query(COMMIT);
    const { rows } = await session.query<{ position: string }>(
      'select pg_current_wal_lsn()::text as position',
    );
    return rows[0]?.position ?? '0/0';
  });
}

/** Waits until a replica has replayed a position. */
export async function waitUntilReplayed(
  replica: NamedConnection,
  position: string,
  timeoutMillis: number,
): Promise<void> {
  const query = `select pg_last_wal_replay_lsn() >= ${Client.prototype.escapeLiteral(position)}::pg_lsn as holds`;
  await waitUntil(`${replica.name} has replayed ${position}`, replica, query, timeoutMillis);
}

/** Stops a replica's replay; it goes on receiving WAL. */
export async function pauseReplay(replica: NamedConnection): Promise<void> {
  await runStatement(replica.connection, 'select pg_wal_replay_pause()');
  const query = `select pg_get_wal_replay_pause_state() = 'paused' as holds`;
  await waitUntil(`${replica.name} has paused its replay`, replica, query);
}

/** Lets a paused replica replay again. */
export async function resumeReplay(replica: NamedConnection): Promise<void> {
  await runStatement(replica.connection, 'select pg_wal_replay_resume()');
}

/** Stops a replica's receiving of WAL for good, and returns where it received from. */
export async function cutReplication(replica: NamedConnection): Promise<string> {
  const rows = await runStatement<{ source: string }>(
    replica.connection,
    `select current_setting('primary_conninfo') as source`,
  );
  const source = rows[0]?.source ?? '';
  if (source === '') throw new ClusterError(`${replica.name} receives from no host already.`);

  await setSource(replica, '');
  const query = 'select count(*) = 0 as holds from pg_stat_wal_receiver';
  await waitUntil(`${replica.name} receives no WAL`, replica, query);
  return source;
}

/** Lets a replica receive from a source that {@link cutReplication} returned. */
export async function restoreReplication(replica: NamedConnection, source: string): Promise<void> {
  await setSource(replica, source);
  const query = `select count(*) = 1 as holds from pg_stat_wal_receiver where status = 'streaming'`;
  await waitUntil(`${replica.name} receives WAL`, replica, query);
}

/** Makes a replica a primary, and resolves when it takes writes. */
export async function promote(replica: NamedConnection): Promise<void> {
  const rows = await runStatement<{ promoted: boolean }>(
    replica.connection,
    'select pg_promote(true, $1) as promoted',
    [verbMillis / 1_000],
  );
  if (rows[0]?.promoted !== true) {
    throw new ClusterError(`${replica.name} was not promoted within ${verbMillis} ms.`);
  }
}

/** Has every commit of a primary wait for all its replicas. */
export async function commitSynchronously(
  primary: NamedConnection,
  replicas: readonly NamedConnection[],
): Promise<void> {
  const names = replicas.map(({ name }) => `"${name}"`).join(', ');
  await setSetting(primary, 'synchronous_standby_names', `${replicas.length} (${names})`);
  const query = `select count(*) = ${replicas.length} as holds from pg_stat_replication where sync_state = 'sync'`;
  await waitUntil('every replica is synchronous', primary, query);
}

async function setSource(replica: NamedConnection, source: string): Promise<void> {
  await setSetting(replica, 'primary_conninfo', source);
}

async function setSetting(host: NamedConnection, name: string, value: string): Promise<void> {
  await withSession(host.connection, async (session) => {
    await session.query(`alter system set ${name} = ${Client.prototype.escapeLiteral(value)}`);
    await session.query('select pg_reload_conf()');
  });
}

async function waitUntil(
  fact: string,
  { connection }: NamedConnection,
  query: string,
  timeoutMillis: number = verbMillis,
): Promise<void> {
  await withSession(connection, (session) =>
    until(fact, timeoutMillis, async () => {
      const { rows } = await session.query<{ holds: boolean | null }>(query);
      return rows[0]?.holds === true;
    }),
  );
}

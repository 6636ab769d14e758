import { setTimeout as delay } from 'node:timers/promises';
import type { TestHost } from 'knex-rwsplit/testing';

const patienceMillis = 10_000;

/** The replica that received most of what the primary wrote: it has everything acknowledged. */
export async function mostAdvanced(replicas: readonly TestHost[]): Promise<TestHost> {
  const positions = await Promise.all(
    replicas.map(async (host) => {
      const [row] = await host.query<{ bytes: string }>(
        `select /* demo */ greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0' as bytes`,
      );
      return { host, bytes: BigInt(row?.bytes ?? 0) };
    }),
  );
  // Of equals the last, which ran all the time: its own counts cover both of its roles.
  const best = positions.reduce((one, other) => (other.bytes >= one.bytes ? other : one));
  return best.host;
}

/** Lets a replica of the old primary go on from the promoted one, without a restart. */
export async function followPromoted(replica: TestHost, promoted: TestHost): Promise<void> {
  const [row] = await replica.query<{ source: string }>(
    `select /* demo */ current_setting('primary_conninfo') as source`,
  );
  const source = (row?.source ?? '').replace(/port='\d+'/, `port='${promoted.port}'`);
  await replica.query(
    `alter system /* demo */ set primary_conninfo = '${source.replaceAll("'", "''")}'`,
  );
  await replica.query('select /* demo */ pg_reload_conf()');
  const end = Date.now() + patienceMillis;
  while (!(await follows(replica, promoted))) {
    if (Date.now() > end) throw new Error(`${replica.name} does not follow ${promoted.name}.`);
    await delay(20);
  }
}

async function follows(replica: TestHost, { port }: TestHost): Promise<boolean> {
  const rows = await replica.query(
    `select /* demo */ from pg_stat_wal_receiver
     where status = 'streaming' and sender_port = $1 and received_tli > 1`,
    [port],
  );
  return rows.length > 0;
}

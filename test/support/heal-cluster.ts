import type { Cluster, TestHost } from '../../lib/testing/index.ts';
import { setSettings } from './set-settings.ts';

/**
 * Makes a cluster of one's own healthy again, whatever a test did to its hosts: all run, the first
 * one leads, the others have replayed what it wrote, and none has a setting that a test gave it.
 *
 * Looks once at each host where nothing is broken. What the leading host has is kept. Sessions that
 * a test left open are left alone.
 */
export async function healCluster(cluster: Cluster): Promise<void> {
  for (const host of cluster.hosts) host.wake();
  // First, as the others need somebody to follow.
  await cluster.primary.start();
  await mend(cluster.primary);

  const [first] = cluster.hosts;
  if (first !== undefined && first !== cluster.primary) {
    await mendReplica(first);
    await first.waitForReplay();
    await first.promote();
  }
  await Promise.all(cluster.replicas.map(mendReplica));
  await cluster.waitForReplay();
}

async function mendReplica(replica: TestHost): Promise<void> {
  if (!replica.isFollowing) {
    await replica.rejoin();
    return;
  }
  await replica.start();
  const { isInRecovery, isPaused, isCut } = await mend(replica);
  if (!isInRecovery) await replica.rejoin();
  if (isPaused) await replica.resumeReplay();
  if (isCut) await replica.restoreReplication();
}

interface Condition {
  readonly isInRecovery: boolean;
  readonly isPaused: boolean;
  readonly isCut: boolean;
  /** Settings that were changed while the server ran. */
  readonly changed: readonly string[];
}

/** Takes back the settings that a test gave, and says what else there is to do. */
async function mend(host: TestHost): Promise<Condition> {
  const [condition] = await host.query<Condition & Record<string, unknown>>(`
    select in_recovery as "isInRecovery",
      case when in_recovery then pg_get_wal_replay_pause_state() <> 'not paused' else false end as "isPaused",
      in_recovery and current_setting('primary_conninfo') = '' as "isCut",
      array(
        select distinct name from pg_file_settings where sourcefile like '%/postgresql.auto.conf'
          and name not in ('primary_conninfo', 'synchronous_standby_names')
      ) as changed
    from pg_is_in_recovery() as in_recovery`);
  if (condition === undefined) throw new Error(`${host.name} says nothing of its condition.`);

  const { changed } = condition;
  if (changed.length > 0) {
    await setSettings(host, Object.fromEntries(changed.map((name) => [name, undefined])));
  }
  return condition;
}

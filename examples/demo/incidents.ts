import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { type HostSnapshot, rwSplit } from 'knex-rwsplit';
import type { Cluster, TestHost } from 'knex-rwsplit/testing';
import { followPromoted, mostAdvanced } from './succession.ts';
import type { Timeline } from './timeline.ts';

const patienceMillis = 15_000;

/** When a host was killed, in milliseconds since 1970. */
export interface Outage {
  readonly host: TestHost;
  readonly killedAt: number;
}

/** The change of the primary. */
export interface Failover {
  readonly outage: Outage;
  readonly promoted: TestHost;
  /** When the promoted server took writes. */
  readonly promotedAt: number;
}

/** What happened to the hosts. */
export interface Incidents {
  readonly replica: Outage;
  readonly failover: Failover;
}

/** Kills a replica and brings it back, then kills the primary and promotes a replica. */
export async function disturb(
  cluster: Cluster,
  db: Knex,
  timeline: Timeline,
  seconds: number,
): Promise<Incidents> {
  const openedAt = Date.now();
  const until = (share: number): Promise<void> =>
    delay(Math.max(0, openedAt + share * seconds * 1000 - Date.now()));
  const [victim = cluster.primary] = cluster.replicas;

  await until(0.2);
  const replica = await kill(victim, timeline);
  await until(0.35);
  await victim.start();
  timeline.tell(`${victim.name} was started again`);

  await serves(db, victim);

  await until(0.6);
  const outage = await kill(cluster.primary, timeline, 'the primary');
  // As long as whoever decides on a failover might take.
  await delay(1000);
  const promoted = await mostAdvanced(cluster.replicas);
  await promoted.promote();
  const promotedAt = Date.now();
  timeline.tell(`${promoted.name} was promoted`);
  for (const host of cluster.replicas.filter(({ isRunning }) => isRunning)) {
    await followPromoted(host, promoted);
    timeline.tell(`${host.name} follows ${promoted.name}`);
  }
  // So that something comes after it, however late it was.
  await delay(1000);
  await until(1);
  return { replica, failover: { outage, promoted, promotedAt } };
}

// Else the shop might have neither a primary nor this replica.
async function serves(db: Knex, { name }: TestHost): Promise<void> {
  const end = Date.now() + patienceMillis;
  const isUp = (host: HostSnapshot): boolean => host.name === name && host.state === 'up';
  while (!rwSplit(db).hosts().some(isUp) && Date.now() < end) await delay(50);
}

async function kill(host: TestHost, timeline: Timeline, name = host.name): Promise<Outage> {
  const killedAt = Date.now();
  await host.kill();
  timeline.tell(`${name} was killed`);
  return { host, killedAt };
}

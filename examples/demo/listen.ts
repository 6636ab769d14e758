import type { Knex } from 'knex';
import { type HostSnapshot, rwSplit } from 'knex-rwsplit';
import type { TestHost } from 'knex-rwsplit/testing';
import type { Tallies } from './table.ts';
import type { Timeline } from './timeline.ts';

/** What the library says of its hosts and re-runs while the shop is open. */
export interface Heard {
  /** How many statements it ran again on another host. */
  retries: number;
  /** How many reads went to the primary as no replica was fit. */
  readsWithoutReplica: number;
}

// A read may be on its way to a server when the library learns that it was promoted.
const graceMillis = 500;

/** Puts what the library notices of the hosts into the timeline. */
export function listen(
  db: Knex,
  timeline: Timeline,
  hosts: readonly TestHost[],
  tallies: Tallies,
): Heard {
  const heard: Heard = { retries: 0, readsWithoutReplica: 0 };
  const nameOf = (name: string): string => hosts.find((host) => isHost(host, name))?.name ?? name;
  rwSplit(db)
    .on('host:down', ({ host, reason }) => timeline.hear('host:down', `${nameOf(host)}: ${reason}`))
    .on('host:up', ({ host, role }) => timeline.hear('host:up', `${nameOf(host)}, a ${role}`))
    .on('host:role', ({ host, role }) => {
      const article = role === 'primary' ? 'the' : 'a';
      timeline.hear('host:role', `${nameOf(host)} is ${article} ${role} now`);
      const tally = tallies.get(nameOf(host));
      if (tally !== undefined && role === 'primary')
        tally.knownPromotedAt = Date.now() + graceMillis;
    })
    .on('route', ({ intent, role, reason }) => {
      if (intent !== 'read' || role !== 'primary' || reason.startsWith('hint')) return;
      if (!rwSplit(db).hosts().some(isFit)) heard.readsWithoutReplica++;
    })
    .on('retry', () => {
      heard.retries++;
    });
  return heard;
}

/** Whether a name of the library's is that of a host: the first primary has no name but its address. */
export function isHost({ name, host, port }: TestHost, known: string | undefined): boolean {
  return known === name || known === `${host}:${port}`;
}

function isFit({ role, reason }: HostSnapshot): boolean {
  return role === 'replica' && reason === undefined;
}

import type { Cluster, TestHost } from 'knex-rwsplit/testing';
import { ServerLog } from './server-log.ts';
import { type Counted, countStatements, resetStatistics } from './statistics.ts';
import type { Tallies } from './table.ts';
import { Tally } from './tally.ts';

/** What the servers themselves say that they did for an application. */
export class Witnesses {
  readonly tallies: Tallies;
  readonly #cluster: Cluster;
  readonly #logs: readonly ServerLog[];

  constructor(cluster: Cluster, application: string) {
    this.#cluster = cluster;
    this.#logs = cluster.hosts.map((host) => new ServerLog(host, application));
    this.tallies = new Map(cluster.hosts.map(({ name }) => [name, new Tally()]));
  }

  /** Counts from here on; of what was before, only errors. */
  async begin(): Promise<void> {
    for (const log of this.#logs) this.#tallyOf(log)?.addErrors(await log.readAll());
    const { hosts, hasStatementStatistics } = this.#cluster;
    if (hasStatementStatistics) await Promise.all(hosts.map(resetStatistics));
  }

  /** Adds what was logged since the last call. */
  async read(): Promise<void> {
    for (const log of this.#logs) this.#tallyOf(log)?.add(await log.read());
  }

  /** Adds all that was logged; for when nothing runs any more. */
  async readAll(): Promise<void> {
    for (const log of this.#logs) this.#tallyOf(log)?.add(await log.readAll());
  }

  /** What the statistics of servers say, which a kill empties. */
  async counted(hosts: readonly TestHost[]): Promise<readonly Counted[]> {
    return Promise.all(this.#cluster.hasStatementStatistics ? hosts.map(countStatements) : []);
  }

  #tallyOf({ host }: ServerLog): Tally | undefined {
    return this.tallies.get(host.name);
  }
}

import type { RWSplitSettings } from '../config/settings.ts';
import type { RWSplitEmitter } from '../events.ts';
import type { Cluster } from '../hosts/cluster.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { notePooler } from '../hosts/pooled-hosts.ts';
import type { ServerFacts } from '../hosts/server-facts.ts';
import type { SessionStates } from '../state/session-states.ts';
import { ClusterWatch } from './cluster-watch.ts';
import { debugHost } from './debug.ts';
import { HostMaker } from './host-maker.ts';
import type { KnexClasses, PgClient } from './internals.ts';
import { needsPrimary } from './needs-primary.ts';

/** What {@link ClusterPools} are made of. */
export interface ClusterPoolsParts {
  /** Whose way of dialling the pools have. */
  readonly client: PgClient;
  readonly settings: RWSplitSettings;
  readonly events: RWSplitEmitter;
  readonly classes: Pick<KnexClasses, 'PgDialect'>;
  /** Whether statements wait while there is no primary. */
  readonly needsPrimary: () => boolean;
}

/** The pools of a cluster's hosts, and all that belongs to the servers rather than to one client. */
export class ClusterPools {
  readonly watch: ClusterWatch;
  readonly cluster: Cluster;
  /** How long Knex lets a query wait for a connection. */
  readonly acquireMillis: number;
  /** Connections that must not be handed out again. */
  readonly spoilt: WeakSet<Connection> = new WeakSet();
  /** Whether a backslash is just that in the servers' plain string literals; unknown until one says so. */
  hasStandardStrings: boolean | undefined;

  constructor({ client, settings, events, classes, needsPrimary }: ClusterPoolsParts) {
    const maker = new HostMaker(
      client,
      settings,
      Reflect.get(classes.PgDialect.prototype, 'validateConnection'),
      (host, facts) => this.#noteFacts(host, facts),
      (connection) => this.spoilt.add(connection),
    );
    this.acquireMillis = maker.acquireMillis;
    this.watch = new ClusterWatch(client, settings, events, maker, needsPrimary);
    this.cluster = this.watch.cluster;
  }

  /**
   * Uses no connection again that is open by now, when a state is wanted for the first time: nobody
   * looked at what was sent on it.
   */
  renew(states: SessionStates): void {
    for (const { pool } of this.cluster.hosts) {
      for (const connection of pool.inUse) states.want(connection);
      pool.renew();
    }
  }

  #noteFacts(
    host: Host,
    { role, hasStandardStrings, server, isPooled, replayed }: ServerFacts,
  ): void {
    if (isPooled !== undefined) notePooler(host, isPooled);
    this.cluster.positions.restart(server, replayed);
    // One server that says no is enough.
    if (this.hasStandardStrings !== false) this.hasStandardStrings = hasStandardStrings;
    // The name may stand for several servers, or the probe has yet to hear of it: it has to say.
    const probed = host.report?.server;
    const isOther = server !== undefined && probed !== undefined && server !== probed;
    const hasOtherRole = role !== undefined && host.isRoleObserved && host.role !== role;
    if (!hasOtherRole && !(isOther && host.role === 'primary')) return;

    debugHost('%s: a connection is one to a %s, %s, not to %s', host.name, role, server, probed);
    this.cluster.doubt(host, true);
  }
}

/** Makes the pools of one client alone. */
export function ownPools(
  client: PgClient,
  settings: RWSplitSettings,
  events: RWSplitEmitter,
  classes: Pick<KnexClasses, 'PgDialect'>,
): ClusterPools {
  return new ClusterPools({
    client,
    settings,
    events,
    classes,
    needsPrimary: () => needsPrimary(settings),
  });
}

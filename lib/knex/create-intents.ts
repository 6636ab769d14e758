import { InOrderBalancer } from '../balancers/in-order.ts';
import { systemClock } from '../clock.ts';
import { runQuery } from '../hosts/run-query.ts';
import type { Cluster } from '../hosts/cluster.ts';
import type { Host } from '../hosts/host.ts';
import { acquire } from '../routing/acquire.ts';
import type { Acquired } from '../routing/acquire.ts';
import type { Route } from '../routing/route.ts';
import { stateOfKey } from '../state/wanted-state.ts';
import { Catalog } from '../sql/catalog.ts';
import type { CatalogRow } from '../sql/catalog-query.ts';
import { Intents, usualPatience } from '../sql/intents.ts';
import type { PgClient } from './internals.ts';
import type { RWSplit } from './rw-split.ts';

// Statements don't wait for a look-up that takes long, but its connection, once open, is of use to
// them, and an answer that comes late to the next ones. A host is not unreachable for being slow.
const ACQUIRE_MILLIS = 5000;

// How long after a change of the schema the primary alone is asked of it.
const STALE_MILLIS = 60_000;

// Nobody but a person can mend that, and nothing tells how soon.
const isMisconfigured = ({ health }: Host): boolean =>
  health.state === 'down' && health.trouble === 'misconfigured';

/** Makes what judges the texts of a client, with a catalog that any of its live hosts answers for. */
export function createIntents(client: PgClient, split: RWSplit): Intents {
  const balancer = new InOrderBalancer(Math.random);

  const query = async (
    text: string,
    values: readonly unknown[],
    key: string,
    onSent?: () => void,
  ): Promise<readonly CatalogRow[]> => {
    const { cluster } = split;
    const { host, connection } = await take(cluster);
    // What a name means depends on the search path, and on what its role may see.
    split.state.states.want(connection, stateOfKey(key));
    onSent?.();
    try {
      // What the look-up asks for is what it is answered with.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return (await runQuery(
        connection,
        { text, values },
        false,
      )) as unknown as readonly CatalogRow[];
    } finally {
      split.dispatcher.release(host, connection);
    }
  };

  // While roles change, every host that could be asked may be gone, and another one is about to be up.
  const take = async (cluster: Cluster): Promise<Acquired> => {
    const deadline = systemClock.now() + ACQUIRE_MILLIS;
    for (;;) {
      const { count } = cluster.changes;
      // oxlint-disable-next-line no-await-in-loop -- one look after the other.
      await split.watch.whenUsable(deadline - systemClock.now());
      const left = deadline - systemClock.now();
      try {
        // oxlint-disable-next-line no-await-in-loop -- as above.
        return await acquire(lookUpRoute(cluster), { cluster, balancer, clock: systemClock }, left);
      } catch (error) {
        if (cluster.hosts.every(isMisconfigured)) throw error;
        // oxlint-disable-next-line no-await-in-loop -- as above.
        if (!(await cluster.changes.after(count, deadline - systemClock.now()))) throw error;
      }
    }
  };

  const lookUpRoute = ({ routable: { primary, usable } }: Cluster): Route => {
    // Opening a connection can take longer than the statement waits.
    const idle = usable.filter((host) => host.pool.numFree() > 0);
    // What this client has changed, a replica may not have yet.
    const hasChanged = systemClock.now() - split.schemaChangedAt < STALE_MILLIS;
    return {
      intent: 'read',
      reason: 'a catalog look-up',
      hosts: hasChanged ? primary : idle,
      fallback: usable,
      lastResort: [],
      role: 'any',
      mayRerun: false,
      awaitsPrimary: false,
    };
  };

  const { functions, failover } = split.settings;
  return new Intents({
    catalog: new Catalog({ query, functions, clock: systemClock }),
    functions,
    clock: systemClock,
    patience: { ...usualPatience, longestMillis: failover.waitMillis },
    // What is not proved to read waits for a primary, and replicas could serve what is.
    isAnswerNeeded: () => split.cluster.routable.primary.length === 0,
    position: (text) => client.positionBindings(text),
  });
}

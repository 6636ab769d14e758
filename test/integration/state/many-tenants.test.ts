import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Knex } from 'knex';
import type { Row } from '../../../lib/testing/index.ts';
import { SessionChanges } from '../../../lib/routing/session-changes.ts';
import { KnownState } from '../../../lib/state/known-state.ts';
import type { WantedState } from '../../../lib/state/wanted-state.ts';
import { useDatabase } from '../../support/database.ts';
import { inLong, isLong } from '../../support/long.ts';
import { replicasOf, useSplit } from '../../support/split.ts';
import { watchConnections } from '../../support/tenant-connections.ts';
import { tenantIncidents } from '../../support/tenant-incidents.ts';
import { runTenantLoad } from '../../support/tenant-load.ts';
import { LossyClient } from '../../support/tenant-lossy-client.ts';
import { useTenants } from '../../support/tenants.ts';

const concurrency = 100;
const max = 5;
// Of two instances, each with a connection that probes.
const most = 2 * (max + 1);
// A server may not have noticed yet that connections are closed whose places are taken already. Only a
// budget waits for that, for a second where this side closed them, and such a load is slow.
const closing = most;
const maxPerServer = 2 * max + 1;

describe('Many tenants over few connections', () => {
  const cluster = useDatabase();
  const tenants = useTenants(cluster, 200);
  const splits = useSplit(cluster);

  afterEach(() => void jest.restoreAllMocks());

  const open = (config: Knex.Config = {}): readonly Knex[] =>
    (['session', 'eventual'] as const).map(
      (consistency) =>
        splits.cold({
          ...config,
          connection: { ...cluster().connection(), ...tenants.login },
          rwSplit: { replicas: replicasOf(cluster()), consistency, ...config.rwSplit },
          pool: { max },
        }).db,
    );

  it.each([
    [500, 'with a budget', { maxPerServer }, maxPerServer],
    ...[2000, ...inLong(100_000, 1_000_000)].map(
      (queries) => [queries, 'over pools alone', {}, most + closing] as const,
    ),
  ] as const)(
    'each see their own, whatever happens to the others: %i queries, %s',
    async (queries, _, budget, limit) => {
      const dbs = open({ rwSplit: budget });
      const written = await writtenRows();
      const watch = watchConnections(cluster(), tenants.login.user);

      const { strangers, failures, counts, held } = await runTenantLoad({
        dbs,
        tenants,
        queries,
        concurrency,
        incidentShare: 0.05,
      });

      const seen = await watch.end();
      expect(strangers).toEqual([]);
      // What goes wrong goes wrong for nobody else, and as it is meant to.
      expect(failures).toEqual([]);
      const rare = tenantIncidents.filter(
        ([share, name]) => (counts.get(name) ?? 0) < Math.floor((queries * share) / 100 / 40),
      );
      expect(rare).toEqual([]);
      expect(Math.max(...Object.values(seen))).toBeLessThanOrEqual(limit);
      expect(held).toBeLessThanOrEqual(max);
      expect(await writtenRows()).toEqual({
        all: Number(written['all']) + (counts.get('insert') ?? 0),
        wrong: 0,
      });
    },
    isLong ? 3_600_000 : 180_000,
  );

  // So it is known that the above would find it.
  it.each<[string, () => Knex.Config]>([
    ['changes get lost on their way', () => ({ client: LossyClient })],
    [
      'changes are believed before they are confirmed',
      () => {
        jest.spyOn(KnownState.prototype, 'begin').mockImplementation(believe);
        return {};
      },
    ],
    [
      'connections are used again after SET',
      () => {
        jest.spyOn(SessionChanges.prototype, 'has').mockReturnValue(false);
        return {};
      },
    ],
  ])('see strangers where %s', async (_, broken) => {
    const dbs = open(broken());

    const { strangers } = await runTenantLoad({
      dbs,
      // The fewer, the more often is a connection used again for the same one.
      tenants: { ...tenants, names: tenants.names.slice(0, 3) },
      queries: 600,
      concurrency,
      incidentShare: 0.25,
    });
    expect(strangers).not.toEqual([]);
  });

  async function writtenRows(): Promise<Row> {
    const [row] = await cluster().primary.query(
      'select count(*)::int as all, (count(*) filter (where role <> by or setting <> by))::int as wrong from app.written',
    );
    return row ?? {};
  }
});

function believe(this: KnownState, changes: Parameters<KnownState['begin']>[0]): void {
  const values = new Map<string, string>();
  for (const { name, value } of changes) if (value !== null) values.set(name, value);
  this.confirm(changes, [], { values } as unknown as WantedState);
}

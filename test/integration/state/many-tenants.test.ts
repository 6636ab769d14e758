import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { useDatabase } from '../../support/database.ts';
import { amount } from '../../support/long.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { replicasOf, useSplit } from '../../support/split.ts';
import type { TenantView } from '../../support/tenant-view.ts';
import { viewOf, viewQuery } from '../../support/tenant-view.ts';
import { useTenants } from '../../support/tenants.ts';

const concurrency = 100;
const max = 5;

describe('Many tenants over few connections', () => {
  const cluster = useDatabase();
  const tenants = useTenants(cluster, 200);
  const splits = useSplit(cluster);

  it('each see their own, whatever happens to the others', async () => {
    const { db } = splits.cold({
      connection: { ...cluster().connection(), ...tenants.login },
      rwSplit: { replicas: replicasOf(cluster()), consistency: 'eventual' },
      pool: { max },
    });
    const random = seededRandom(7);
    const strangers: unknown[] = [];
    const errors = new Map<string, number>();
    let most = 0;
    let answered = 0;
    let left = amount(4000);
    const turns = left;

    const turn = async (): Promise<void> => {
      // Some come often: what is believed of a connection has to be right where it is used again.
      const among = random() < 0.5 ? 3 : tenants.names.length;
      const name = tenants.names[Math.floor(random() * among)] ?? '';
      const incident = random() < 0.05 ? Math.floor(random() * incidents.length) : -1;
      const tenant = rwSplit(db).withState(tenants.state(name));
      try {
        await (incidents[incident] ?? nothing)(tenant, db);
        if (random() < 0.05) {
          const nobody = await db
            .select(db.raw("current_user as role, current_setting('app.tenant', true) as setting"))
            .first();
          if (nobody.role !== tenants.login.user || Boolean(nobody.setting)) strangers.push(nobody);
        }
        const rows = await look(tenant, random() < 0.2);
        answered++;
        for (const row of rows) {
          if (JSON.stringify(row) !== JSON.stringify(viewOf(name))) strangers.push([name, row]);
        }
      } catch (error) {
        const { code = String(error) } = error as { code?: string };
        errors.set(code, (errors.get(code) ?? 0) + 1);
      }
    };
    const worker = async (): Promise<void> => {
      while (left-- > 0) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other.
        await turn();
        const sizes = rwSplit(db)
          .hosts()
          .map(({ pool }) => pool.used + pool.free);
        most = Math.max(most, ...sizes);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));

    expect(strangers).toEqual([]);
    // What goes wrong goes wrong for nobody else.
    expect(answered).toBe(turns);
    expect(most).toBeLessThanOrEqual(max);
    expect(errors.get('RWSPLIT_STATE')).toBeUndefined();
  });
});

const nothing = async (): Promise<void> => undefined;

const ignore = async (run: PromiseLike<unknown>): Promise<void> => {
  await Promise.allSettled([run]);
};

// Each is one way to leave a session otherwise than it was found.
const incidents: readonly ((tenant: Knex, db: Knex) => Promise<unknown>)[] = [
  async (tenant) => ignore(tenant.raw('select 1/0')),
  async (tenant) => ignore(tenant('whose').insert({ nothing: 1 })),
  async (tenant) => ignore(tenant.raw('select pg_sleep(1)').timeout(5, { cancel: true })),
  async (tenant) => ignore(tenant.raw('select pg_sleep(0.05)').timeout(5)),
  async (tenant) => ignore(tenant.raw('select pg_terminate_backend(pg_backend_pid())')),
  async (tenant) =>
    ignore(
      tenant.transaction(async (trx) => {
        await trx.raw('set role none');
        await trx.raw("set app.tenant = 'stranger'");
        throw new Error('rolled back');
      }),
    ),
  async (tenant) =>
    ignore(
      tenant.transaction(async (trx) => {
        await trx.raw("set local app.tenant = 'stranger'");
        await trx.raw('select 1/0');
      }),
    ),
  async (tenant) => ignore(tenant.raw("select set_config('app.tenant', 'stranger', false)")),
  async (tenant) => ignore(tenant.raw('reset all')),
  async (tenant) => ignore(tenant.raw('set role none')),
  async (_, db) => ignore(db.raw('select 1')),
  async (tenant) => {
    const stream = tenant.raw('select generate_series(1, 10000)').stream();
    stream.on('error', () => undefined);
    await sleep(1);
    stream.destroy();
  },
];

async function look(tenant: Knex, inTransaction: boolean): Promise<TenantView[]> {
  return inTransaction ? tenant.transaction((trx) => viewQuery(trx)) : viewQuery(tenant);
}

import { describe, expect, it } from '@jest/globals';
import { onPrimary, rwSplit } from '../../../lib/index.ts';
import type { RouteEvent } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { replicasOf, useSplit } from '../../support/split.ts';

const cluster = useRoutingDatabase('create sequence numbers;');
const split = useSplit(cluster, 'eventual');

function primaryName(): string {
  const { host, port } = cluster().primary;
  return `${host}:${port}`;
}

describe('hosts()', () => {
  it('knows nothing of the servers before a connection is opened', () => {
    const { db } = split.cold();

    const hosts = rwSplit(db).hosts();

    expect(
      hosts.map(({ name, role, isRoleObserved, state }) => [name, role, isRoleObserved, state]),
    ).toEqual([
      [primaryName(), 'primary', false, 'unknown'],
      ['replica-1', 'replica', false, 'unknown'],
      ['replica-2', 'replica', false, 'unknown'],
    ]);
  });

  it('tells the roles that the servers told, and what each served', async () => {
    const [first, second] = replicasOf(cluster());
    const replicas = [{ ...first, weight: 2, tags: ['near'] }, { ...second }];
    const { db } = await split.warm({ rwSplit: { replicas, balancer: 'in-order' } });
    const before = rwSplit(db).hosts();

    await db('notes').insert({ rank: 1 });
    await db.raw('select 1');
    await db.raw('select 1');

    const hosts = rwSplit(db).hosts();
    expect(hosts.map(({ role, isRoleObserved, state }) => [role, isRoleObserved, state])).toEqual([
      ['primary', true, 'up'],
      ['replica', true, 'up'],
      ['replica', true, 'up'],
    ]);
    expect(hosts[1]).toMatchObject({
      weight: 2,
      tags: ['near'],
      inFlight: 0,
      lastError: undefined,
    });
    expect(hosts[1]?.pool).toEqual({ used: 0, free: 1, pending: 0, max: 5 });
    const served = hosts.map(({ served: { reads, writes } }, index) => [
      reads - (before[index]?.served.reads ?? 0),
      writes - (before[index]?.served.writes ?? 0),
    ]);
    expect(served).toEqual([
      [0, 1],
      [2, 0],
      [0, 0],
    ]);
  });

  it('counts what is running', async () => {
    const { db } = await split.warm({ rwSplit: { target: 'primary' } });

    const running = await db.transaction(async () => rwSplit(db).hosts()[0]);

    expect(running).toMatchObject({ inFlight: 1, pool: { used: 1 } });
    expect(rwSplit(db).hosts()[0]).toMatchObject({ inFlight: 0, pool: { used: 0 } });
  });

  it('keeps why a host could not be reached, and the reads go on', async () => {
    const replicas = [{ name: 'gone', host: '127.0.0.1', port: 1 }, ...replicasOf(cluster())];
    const { db, servers } = split.cold({ rwSplit: { replicas, balancer: 'in-order' } });

    await rwSplit(db).checkNow();
    await db.raw('select 1');

    expect(servers()).toEqual(['replica-1']);
    expect(rwSplit(db).hosts()[1]?.lastError).toContain('ECONNREFUSED');
  });
});

describe('explain()', () => {
  it.each([
    ['a read', 'read', 'select * from "notes"', ['replica-1', 'replica-2'], true],
    ['a write', 'write', 'insert into "notes" default values', [], false],
  ] as const)(
    'tells where %s would go, and runs nothing',
    async (_, intent, sql, replicas, falls) => {
      const { db, servers } = await split.warm();
      const query = intent === 'read' ? db('notes').select() : db('notes').insert({});

      const explained = await rwSplit(db).explain(query);

      expect(explained).toMatchObject({
        intent,
        sql: [sql],
        hosts: falls ? replicas : [primaryName()],
        fallback: falls ? [primaryName()] : [],
      });
      expect(servers()).toEqual([]);
      await expect(cluster().primary.query('select from notes')).resolves.toHaveLength(
        await rowsOfNotes(),
      );
    },
  );

  it('gives a reason that a person can read', async () => {
    const { db } = await split.warm();
    const reasonOf = async (text: string): Promise<string> =>
      (await rwSplit(db).explain(db.raw(text))).reason;

    expect(await reasonOf('select 1')).toContain('read');
    expect(await reasonOf("select nextval('numbers')")).toContain('nextval');
    expect((await rwSplit(db).explain(onPrimary(db('notes')))).reason).toContain('hint: primary');
  });

  it('tells the statements of a schema builder', async () => {
    const { db, servers } = await split.warm();

    const explained = await rwSplit(db).explain(db.schema.dropTable('notes').dropTable('here'));

    expect(explained).toMatchObject({ intent: 'write', hosts: [primaryName()] });
    expect(explained.sql).toEqual(['drop table "notes"', 'drop table "here"']);
    expect(servers()).toEqual([]);
  });

  it('tells that a statement belongs to its transaction', async () => {
    const { db } = await split.warm();

    const explained = await db.transaction(async (trx) =>
      rwSplit(trx).explain(trx('notes').select()),
    );

    expect(explained).toMatchObject({ hosts: [], reason: expect.stringContaining('transaction') });
  });
});

describe('The event route', () => {
  it('tells host, role, intent and reason of each statement', async () => {
    const { db } = await split.warm({ rwSplit: { balancer: 'in-order' } });
    const routes: RouteEvent[] = [];
    const listener = (event: RouteEvent): void => void routes.push(event);
    rwSplit(db).on('route', listener);

    await db('notes').select();
    await db('notes').insert({ rank: 1 });
    rwSplit(db).off('route', listener);
    await db('notes').select();

    expect(routes).toEqual([
      { host: 'replica-1', role: 'replica', intent: 'read', reason: expect.any(String) },
      { host: primaryName(), role: 'primary', intent: 'write', reason: 'is an insert' },
    ]);
  });

  it('agrees with the server and with the events of Knex', async () => {
    const { db, servers } = await split.warm();
    const said: unknown[] = [];
    rwSplit(db).on('route', ({ host }) => said.push(host));
    db.on('query-response', (_, { rwSplit: { host } }: { rwSplit: { host: string } }) =>
      said.push(host),
    );

    await db('notes').select();

    const [server] = servers();
    expect(said).toEqual([server, server]);
  });
});

async function rowsOfNotes(): Promise<number> {
  const rows = await cluster().primary.query('select from notes');
  return rows.length;
}

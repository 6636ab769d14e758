import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { MisrouteEvent } from '../../../lib/index.ts';
import { until } from '../../../lib/testing/until.ts';
import { hidden, hiddenWrites } from '../../support/hidden-writes.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { type Split, useSplit } from '../../support/split.ts';

const refusals: [string, string, string][] = [
  ['a hidden write', '25006', 'select writes() as host'],
  ['a hidden unlogged table', '0A000', 'select reads_unlogged() as host'],
  ['a hidden question about the WAL', '55000', 'select asks_position() as host'],
];

// As on a replica that has not replayed the DDL yet.
const lacking = `
  create function lacks() returns text stable language plpgsql as $$ begin
    if pg_is_in_recovery() then raise exception 'lacks it' using errcode = '42P01'; end if;
    return served_by();
  end $$;
`;

describe('A read that the replica refuses', () => {
  const split = useSplit(useRoutingDatabase(hiddenWrites + lacking), 'eventual');

  /** With the functions looked up: on a busy machine, that may take longer than a read waits for. */
  const known = async (config?: Knex.Config): Promise<Split> => {
    const warm = await split.warm(config);
    const all = 'select writes(), reads_unlogged(), asks_position(), lacks(), raises(?)';
    await until('the functions are known', 5000, async () => {
      const { intent } = await rwSplit(warm.db).explain(warm.db.raw(all, ['']));
      return intent === 'read';
    });
    warm.servers();
    return warm;
  };

  const watch = (db: Knex): MisrouteEvent[] => {
    const events: MisrouteEvent[] = [];
    rwSplit(db).on('misroute', (event) => events.push(event));
    return events;
  };

  it.each(refusals)('runs on the primary instead: %s (%s)', async (_, code, text) => {
    const { db, servers } = await known();
    const misroutes = watch(db);

    const { rows } = await db.raw<{ rows: { host: string }[] }>(text);

    expect(rows).toMatchObject([{ host: 'primary' }]);
    const [asked, ...more] = servers();
    expect(asked).toMatch(/^replica/);
    expect(more).toEqual([]);
    expect(misroutes).toMatchObject([
      { host: asked, sql: text, error: { code }, learnt: true, count: 1 },
    ]);
  });

  it.each(refusals)(
    'goes to the primary by itself from then on: %s (%s)',
    async (_, _code, text) => {
      const { db, servers } = await known();
      const misroutes = watch(db);
      await db.raw(text);
      servers();

      await db.raw(text);
      await db.raw(text);

      expect(servers()).toEqual(['primary', 'primary']);
      expect(misroutes).toHaveLength(1);
      await expect(rwSplit(db).explain(db.raw(text))).resolves.toMatchObject({
        intent: 'write',
        reason: 'a replica refused it before',
      });
    },
  );

  it('is learnt by its text, whatever the bindings', async () => {
    const { db, servers } = await known();
    await hidden(db).where('host', '<>', 'a').select();
    servers();

    await hidden(db).where('host', '<>', 'b').select();
    await db('notes').where('id', '>', 1).select();

    expect(servers()).toEqual(['primary', expect.stringMatching(/^replica/)]);
  });

  it('is tried on a replica again after DDL of this client', async () => {
    const { db, servers } = await known();
    const misroutes = watch(db);
    const [[, , text] = ['', '', '']] = refusals;
    await db.raw(text);
    await db.schema.raw("comment on table notes is 'changed'");
    servers();

    await db.raw(text);

    expect(servers()).toEqual([expect.stringMatching(/^replica/)]);
    expect(misroutes).toHaveLength(2);
  });

  it('runs on the primary, but is not learnt, when only the replica lacks something', async () => {
    const { db, servers } = await known();
    const misroutes = watch(db);
    const texts = ['select lacks() as host', 'select lacks() as host'];

    for (const text of texts) {
      expect((await db.raw(text)).rows).toEqual([{ host: 'primary' }]);
    }

    const aReplica: unknown = expect.stringMatching(/^replica/);
    expect(servers()).toEqual([aReplica, aReplica]);
    expect(misroutes).toMatchObject([
      { learnt: false, count: 1, error: { code: '42P01' } },
      { learnt: false, count: 2, error: { code: '42P01' } },
    ]);
  });

  it('is not sent to the primary once it was cancelled', async () => {
    const { db } = await known({ pool: { max: 1 }, acquireConnectionTimeout: 3000 });
    const misroutes = watch(db);
    const holder = await db.transaction();
    const { client } = db;
    const cancel = client.cancelQuery.bind(client) as (connection: object) => Promise<unknown>;
    const isGiven = new Promise((tell) => client.pool.on('release', tell));
    // While it is cancelled, the connection that it waits for comes free.
    client.cancelQuery = async (connection: object) => {
      await cancel(connection);
      await holder.rollback();
      await isGiven;
      await db.raw('select 1').queryContext({ rwSplit: { target: 'primary' } });
    };

    const failure = db.raw('select writes() as host').timeout(300, { cancel: true });

    await expect(failure).rejects.toThrow('timeout of 300ms');
    expect(misroutes).toEqual([]);
  });

  it('is not sent to the primary once its time is up', async () => {
    const { db } = await known({ pool: { max: 1 }, acquireConnectionTimeout: 3000 });
    const misroutes = watch(db);
    const holder = await db.transaction();

    const failure = db.raw('select writes() as host').timeout(300);

    await expect(failure).rejects.toThrow('timeout of 300ms');
    await holder.rollback();
    await db.raw('select 1').queryContext({ rwSplit: { target: 'primary' } });
    expect(misroutes).toEqual([]);
  });

  it('is counted each time', async () => {
    const { db } = await known();
    const misroutes = watch(db);

    await hidden(db).select();
    await hidden(db).count();

    expect(misroutes.map(({ count }) => count)).toEqual([1, 2]);
  });

  it('shows once in the events of Knex, with the host that ran it', async () => {
    const { db } = await known();
    const seen: unknown[] = [];
    db.on('query', () => seen.push('query'));
    db.on('query-error', () => seen.push('query-error'));
    db.on('query-response', (_, { rwSplit: route }: { rwSplit: unknown }) => seen.push(route));

    await hidden(db).select();

    const reason = 'a replica refused it';
    expect(seen).toEqual(['query', expect.objectContaining({ role: 'primary', reason })]);
  });

  it('is streamed by the primary, into the same stream', async () => {
    const { db } = await known();
    const misroutes = watch(db);

    const rows: unknown = await hidden(db).select().stream().toArray();

    expect(rows).toEqual([{ host: 'primary' }]);
    expect(misroutes).toHaveLength(1);
  });

  it.each(['3F000', '42P01', '42703', '42883', '42704'])(
    'runs on the primary, but is not learnt, when the replica may lack a schema change: %s',
    async (code) => {
      const { db, servers } = await known();
      const failure = db.raw('select raises(?)', [code]);

      await expect(failure).rejects.toMatchObject({ code });
      const [first] = servers();
      expect(first).toMatch(/^replica/);
      await expect(db.raw('select raises(?)', [code])).rejects.toMatchObject({ code });

      expect(servers()).toEqual([expect.stringMatching(/^replica/)]);
    },
  );
});

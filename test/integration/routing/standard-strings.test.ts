import { describe, expect, it } from '@jest/globals';
import { rwSplit } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

const off = `do $$ begin
  execute format('alter database %I set standard_conforming_strings = off', current_database());
end $$;
create sequence numbers;
create view numbered as select nextval('numbers');
create domain checked as int check (value < nextval('numbers'));`;

// One literal after the other to PostgreSQL's grammar; to a server with this setting it calls the function.
const hiddenLock = String.raw`select '\'' as a, pg_try_advisory_lock(1) as got, ' , 1 -- '`;

describe('Where the database has standard_conforming_strings off', () => {
  const split = useSplit(useRoutingDatabase(off), 'eventual');

  it('a text with a backslash is sent to the primary, as the first statement, too', async () => {
    const { db, servers } = split.cold();

    const { rows } = await db.raw(hiddenLock);

    expect(rows).toEqual([{ a: "'", got: true, '?column?': ' , 1 -- ' }]);
    expect(servers()).toEqual(['primary']);
  });

  it('a text with a backslash is sent to the primary once the servers have told', async () => {
    const { db, servers } = await split.warm();

    await db.raw(hiddenLock);
    await db.raw(String.raw`select '\'', served_by(), ' , 1 -- '`);

    expect(servers()).toEqual(['primary', 'primary']);
  });

  it.each([
    String.raw`set application_name = 'a\\b'`,
    String.raw`select '\'', set_config('application_name', 'b', false), ' , 1 -- '`,
    String.raw`select '\'', pg_advisory_lock(2), ' , 1 -- '`,
  ])('what such a text does to its session ends with its connection: %s', async (text) => {
    const { db } = split.cold({ pool: { min: 0, max: 1 } });
    const pid = async (): Promise<unknown> =>
      (await db.raw('select pg_backend_pid()').queryContext({ rwSplit: { target: 'primary' } }))
        .rows[0];

    await db.raw(text);
    const [first, second] = [await pid(), await pid()];

    expect(second).toEqual(first);
    const { rows } = await db.raw(
      "select count(*)::int as held from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
    );
    expect(rows).toEqual([{ held: 0 }]);
    expect((await db.raw('show application_name')).rows).not.toContainEqual({
      application_name: expect.stringMatching(/^(?:a.*b|b)$/),
    });
  });

  it('a text with a backslash opens no transaction', async () => {
    const { db } = split.cold();

    await expect(db.raw(String.raw`begin; select '\'`)).rejects.toMatchObject({
      code: 'RWSPLIT_STATE',
    });
  });

  it('a text without one is read as ever', async () => {
    const { db, servers } = await split.warm();

    await db.raw("select 'it''s', served_by()");
    await db.select('one').from('here').where('host', 'like', 'replica%');

    expect(servers()).toEqual([
      expect.stringMatching(/^replica-/),
      expect.stringMatching(/^replica-/),
    ]);
  });

  it.each(['table numbered', 'select 1::checked'])(
    'the catalog is understood as ever: %s',
    async (text) => {
      const { db, servers } = await split.warm();
      const reason = new Promise((resolve) => {
        rwSplit(db).on('route', (route) => resolve(route.reason));
      });

      await db.raw(text);

      expect(await reason).toContain('nextval');
      expect(servers()).toEqual(['primary']);
    },
  );
});

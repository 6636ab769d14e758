import { describe, expect, it } from '@jest/globals';
import type { RWSplitOptions } from '../../../lib/index.ts';
import type { Knex } from 'knex';
import { useDatabase } from '../../support/database.ts';
import { useInstances } from '../../support/instances.ts';

/** The names and values of the first row, in their order. */
async function columnsOf(db: Knex): Promise<unknown> {
  const [row] = await db('seen').limit(5);
  return Object.entries(row as object);
}

describe('A text that comes again and again', () => {
  const cluster = useDatabase();
  const { alone, plain } = useInstances(cluster);

  it.each<[string, RWSplitOptions]>([
    ['as usual', {}],
    ['prepared by name', { prepare: { max: 10 } }],
  ])('has the columns that its table has by then, %s', async (_, options) => {
    const db = alone({ rwSplit: { replicas: [], ...options }, pool: { min: 1, max: 1 } });
    const control = plain();
    await control.raw('create table seen (id int, name text); insert into seen values (1, null)');
    const changes = [
      'select 1',
      'alter table seen rename name to title',
      'alter table seen add more int default 7',
      'alter table seen alter title type boolean using true',
      'alter table seen drop id',
    ];

    for (const change of changes) {
      await control.raw(change);
      // The second time, the row is known.
      expect([await columnsOf(db), await columnsOf(db)]).toEqual([
        await columnsOf(control),
        await columnsOf(control),
      ]);
    }
    await control.schema.dropTable('seen');
  });
});

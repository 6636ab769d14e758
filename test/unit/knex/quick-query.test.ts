import { describe, expect, it } from '@jest/globals';
import { knex } from 'knex';
import { knexClasses } from '../../../lib/knex/internals.ts';
import { QuickQueries } from '../../../lib/knex/quick-query.ts';

const { prototype } = knexClasses(knex).KnexRunner;

describe('QuickQueries', () => {
  // Where this fails, Knex has changed what `quickQuery` does in its place: compare, and mend both.
  it('know the query of this Knex', () => {
    expect(new QuickQueries().isOwn(prototype)).toBe(true);
  });

  it('know no query that something is wrapped around, whenever that came', () => {
    const quick = new QuickQueries();
    const wrapped = {
      query: (...args: never[]) => Reflect.apply(prototype.query, prototype, args),
    };

    expect([quick.isOwn(prototype), quick.isOwn(wrapped), quick.isOwn(prototype)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

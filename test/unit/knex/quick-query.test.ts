import { describe, expect, it } from '@jest/globals';
import { knex } from 'knex';
import { knexClasses } from '../../../lib/knex/internals.ts';
import { ownRunnerQuery } from '../../../lib/knex/quick-query.ts';

const { query } = knexClasses(knex).KnexRunner.prototype as { readonly query: unknown };

describe('ownRunnerQuery', () => {
  // Where this fails, Knex has changed what `quickQuery` does in its place: compare, and mend both.
  it('knows the query of this Knex', () => {
    expect(ownRunnerQuery().is(query)).toBe(true);
  });

  it('knows no query that something is wrapped around, whenever that came', () => {
    const own = ownRunnerQuery();
    const wrapped = (...args: unknown[]): unknown => args;

    expect([own.is(query), own.is(wrapped), own.is(query)]).toEqual([true, false, true]);
  });
});

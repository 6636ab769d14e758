import { describe, expect, it } from '@jest/globals';
import { knex } from 'knex';
import { isKnexBuilder } from '../../../lib/knex/knex-builder.ts';

const db = knex({ client: 'pg' });

describe('isKnexBuilder', () => {
  it.each([
    ['a query', db('t')],
    ['an insert', db('t').insert({ id: 1 })],
    ['a raw query', db.raw('select 1')],
    ['a schema builder', db.schema.hasTable('t')],
    ['a clone', db('t').clone()],
    ['a query builder without a table', db.queryBuilder()],
  ])('knows %s', (_, builder) => {
    expect(isKnexBuilder(builder)).toBe(true);
  });

  it.each([
    ['an instance', db],
    ['a client', db.client],
    ['a promise', Promise.resolve()],
    ['something with toSQL and a client of its own', { toSQL: () => ({}), client: {} }],
    ['something with toSQL and no client', { toSQL: () => ({}), client: undefined }],
  ])('knows that %s is none', (_, value) => {
    expect(isKnexBuilder(value as object)).toBe(false);
  });
});

import { describe, expect, it } from '@jest/globals';
import { describesOneServer } from '../../../lib/sql/server-relations.ts';

describe('describesOneServer', () => {
  it.each([
    [undefined, 'pg_locks', true],
    ['pg_catalog', 'pg_locks', true],
    ['public', 'pg_stat_statements', true],
    [undefined, 'pg_statio_user_tables', true],
    ['shop', 'pg_locks', false],
    [undefined, 'pg_stats', false],
    [undefined, 'pg_class', false],
    [undefined, 'orders', false],
  ])('tells of %s.%s: %s', (schema, name, answer) => {
    expect(describesOneServer({ schema, name })).toBe(answer);
  });
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import type { RWSplitOptions } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

type Target = NonNullable<RWSplitOptions['target']>;
type Answer = 'primary' | 'replica' | '25006';
type Kind = keyof typeof kinds;

const kinds = {
  read: (db: Knex) => db('notes').select(),
  write: (db: Knex) => db('notes').where('rank', -1).update({ rank: 0 }),
  'read-write transaction': (db: Knex) =>
    db.transaction(async (trx) => trx('notes').where('rank', -1).del()),
  schema: (db: Knex) => db.schema.alterTable('notes', (table) => table.comment('of the tests')),
  migration: (db: Knex) => db.migrate.latest({ migrationSource: noMigrations }),
  'read-only transaction': (db: Knex) =>
    db.transaction(async (trx) => trx('notes').select(), { readOnly: true }),
  'raw text that is not proved a read': (db: Knex) => db.raw('do $$ begin end $$'),
};

const noMigrations: Knex.MigrationSource<never> = {
  getMigrations: async () => [],
  getMigrationName: () => '',
  getMigration: async () => ({ up: async () => undefined, down: async () => undefined }),
};

const table: Record<Exclude<Target, 'any'>, Record<Kind, Answer>> = {
  split: row('replica', 'primary', 'replica', 'primary'),
  primary: row('primary', 'primary', 'primary', 'primary'),
  replica: row('replica', '25006', 'replica', 'replica'),
  'prefer-replica': row('replica', 'primary', 'replica', 'primary'),
};

function row(read: Answer, write: Answer, readOnly: Answer, raw: Answer): Record<Kind, Answer> {
  return {
    read,
    write,
    'read-write transaction': write,
    schema: write,
    // Here it only reads, where writes go: a replica can't tell what the primary has just written.
    migration: write === '25006' ? 'replica' : write,
    'read-only transaction': readOnly,
    'raw text that is not proved a read': raw,
  };
}

describe('A target', () => {
  const cluster = useRoutingDatabase();
  const split = useSplit(cluster, 'eventual');

  beforeAll(async () => {
    const { db } = await split.warm();
    await db.migrate.latest({ migrationSource: noMigrations });
    await cluster().waitForReplay();
  });

  it.each(Object.keys(table) as (keyof typeof table)[])(
    '%s sends each kind of statement where its row says',
    async (target) => {
      const { db, servers } = await split.warm({ rwSplit: { target } });

      const outcomes: Record<string, unknown> = {};
      for (const [kind, run] of Object.entries(kinds)) {
        const code = await codeOf(run(db));
        const [role, ...others] = roles(servers());
        outcomes[kind] = others.length > 0 ? 'several' : (code ?? role);
      }

      expect(outcomes).toEqual(table[target]);
    },
  );

  it('replica shows the words of PostgreSQL for a write, and runs it nowhere else', async () => {
    const { db, servers } = await split.warm({ rwSplit: { target: 'replica' } });

    const write = db('notes').insert({ body: 'never' });

    await expect(write).rejects.toThrow('cannot execute INSERT in a read-only transaction');
    expect(roles(servers())).toEqual(['replica']);
    await expect(
      cluster().primary.query("select from notes where body = 'never'"),
    ).resolves.toEqual([]);
  });

  it.each(Object.keys(kinds).filter((kind) => kind !== 'migration'))(
    'any: a %s is sent to every host in turn, whatever its role',
    async (kind) => {
      const { db, servers } = await split.warm({ rwSplit: { target: 'any' } });

      const outcomes = await Promise.allSettled([1, 2, 3].map(() => kinds[kind as Kind](db)));

      expect(new Set(servers())).toEqual(new Set(['primary', 'replica-1', 'replica-2']));
      const reads = kind.includes('read-only') || kind.startsWith('raw') || kind === 'read';
      const failed = outcomes.filter(({ status }) => status === 'rejected');
      expect(failed).toHaveLength(reads ? 0 : 2);
    },
  );
});

function roles(servers: string[]): string[] {
  return [...new Set(servers.map((name) => name.replace(/-\d+$/, '')))];
}

async function codeOf(outcome: PromiseLike<unknown>): Promise<unknown> {
  try {
    await outcome;
    return undefined;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

import type { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

type Shown = Record<string, unknown>;

/** The routes that an emitter shows, as `event: host role (reason)`. */
function listen(of: unknown): string[] {
  const emitter = of as EventEmitter;
  const shown: string[] = [];
  const note = (event: string, statement: Shown): void => {
    const { host, role, reason } = (statement['rwSplit'] ?? {}) as Shown;
    shown.push(`${event}: ${String(host)} ${String(role)} (${String(reason)})`);
  };
  emitter.on('query', (statement: Shown) => note('query', statement));
  emitter.on('query-response', (_: unknown, statement: Shown) => note('query-response', statement));
  emitter.on('query-error', (_: unknown, statement: Shown) => note('query-error', statement));
  return shown;
}

describe('The events of a query', () => {
  const cluster = useRoutingDatabase();
  const { split } = useInstances(cluster);

  async function one(): Promise<Knex> {
    const replicas = cluster()
      .replicas.slice(0, 1)
      .map(({ name, host, port }) => ({ name, host, port }));
    const db = await split({ rwSplit: { replicas } });
    await db('here');
    return db;
  }

  const primary = (): string => `127.0.0.1:${cluster().primary.port}`;

  it.each<[string, (db: Knex) => Knex.QueryBuilder | Knex.Raw, string]>([
    ['a read', (db) => db('here'), 'replica-1 replica (only reads)'],
    ['a write', (db) => db('notes').insert({ rank: 1 }), 'PRIMARY primary (is an insert)'],
    ['raw text', (db) => db.raw('select 1'), 'replica-1 replica (only reads)'],
    [
      'a hinted read',
      (db) => db('here').queryContext({ rwSplit: { target: 'primary' } }),
      'PRIMARY primary (hint: primary; only reads)',
    ],
  ])(
    'tell on the instance, its client and the builder where it went: %s',
    async (_, build, route) => {
      const db = await one();
      const query = build(db);
      const shown = [listen(db), listen(db.client), listen(query)];

      await query;

      const expected = ['query', 'query-response'].map(
        (event) => `${event}: ${route.replace('PRIMARY', primary())}`,
      );
      expect(shown).toEqual([expected, expected, expected]);
    },
  );

  it('tell where it failed', async () => {
    const db = await one();
    await db.raw('select 1 / one from here').catch(String);
    const query = db.raw('select 1 / (one - 1) from here');
    const shown = [listen(db), listen(db.client), listen(query)];

    await query.catch(String);

    const expected = [
      'query: replica-1 replica (only reads)',
      'query-error: replica-1 replica (only reads)',
    ];
    expect(shown).toEqual([expected, expected, expected]);
  });

  it('tell of a transaction why it went there', async () => {
    const db = await one();
    const shown = listen(db);

    await db.transaction(async (trx) => {
      const ofTransaction = listen(trx);
      await trx('here');
      expect(ofTransaction).toEqual([
        `query: ${primary()} primary (a transaction)`,
        `query-response: ${primary()} primary (a transaction)`,
      ]);
    });

    expect(new Set(shown.map((text) => text.replace(/^[\w-]+: /, '')))).toEqual(
      new Set([`${primary()} primary (a transaction)`]),
    );
  });

  it('tell of a read-only transaction', async () => {
    const db = await one();
    const shown = listen(db);

    await db.transaction(async (trx) => trx('here'), { readOnly: true });

    expect(new Set(shown.map((text) => text.replace(/^[\w-]+: /, '')))).toEqual(
      new Set(['replica-1 replica (a read-only transaction)']),
    );
  });

  it('show the transaction that a connection is in, and none after it', async () => {
    const db = await split({ pool: { min: 0, max: 1 } });
    const transactions: unknown[] = [];
    db.on('query', ({ __knexTxId }) => transactions.push(typeof __knexTxId));

    await db.transaction(async (trx) => trx('here'));
    await db('notes').insert({ rank: 1 });

    expect(transactions).toEqual(['string', 'string', 'string', 'undefined']);
  });

  it('tell of a stream', async () => {
    const db = await one();
    const shown = listen(db);

    await db('here').stream().toArray();

    expect(shown).toEqual(['query: replica-1 replica (only reads)']);
  });

  it('tell of schema builders', async () => {
    const db = await one();
    const shown = listen(db);

    await db.schema.hasTable('notes');

    expect(shown).toContain(`query: ${primary()} primary (changes or reads the schema)`);
  });

  it('show a statement that a replica refused once, where it ended up', async () => {
    const db = await one();
    await cluster().primary.query(
      "create or replace function sly() returns text stable language plpgsql as $$ begin perform nextval('notes_id_seq'); return 'x'; end $$",
    );
    await cluster().waitForReplay();
    const query = db.raw('select sly()');
    const shown = listen(db);

    await query;

    expect(shown).toEqual([
      'query: replica-1 replica (only reads)',
      `query-response: ${primary()} primary (a replica refused it)`,
    ]);
  });

  it('keep the order of plain Knex, but for start, which comes before the connection', async () => {
    const db = await one();
    const order: string[] = [];
    const query = db('here');
    for (const event of ['start', 'query', 'query-response', 'end']) {
      query.on(event, () => order.push(event));
    }

    await query;

    expect(order).toEqual(['start', 'query', 'query-response', 'end']);
  });

  it('honour a start listener that changes the builder', async () => {
    const db = await one();
    db.on('start', (builder: Knex.QueryBuilder) => {
      void builder.clear('select').select('host');
    });

    await expect(db('here').select('one')).resolves.toEqual([{ host: 'replica-1' }]);
  });
});

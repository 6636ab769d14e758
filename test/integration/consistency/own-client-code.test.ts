import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { WRITTEN } from '../../../lib/consistency/questions.ts';
import { rwSplit } from '../../../lib/index.ts';
import { useChaosNetwork } from '../../support/chaos-network.ts';
import { useInstances } from '../../support/instances.ts';
import { inLong } from '../../support/long.ts';
import { machineMillis } from '../../support/outage.ts';
import { extensibleClient } from '../../support/own-client.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { whilePaused } from '../../support/replay-delay.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { endStalled, untilStalled } from '../../support/stalled-read.ts';

const tenants = [1, 2] as const;

const schema = tenants
  .map(
    (tenant) => `
      create schema t${tenant};
      create table t${tenant}.items (tenant int, version int);
      insert into t${tenant}.items values (${tenant}, 0);
    `,
  )
  .join('');

const tenant = new AsyncLocalStorage<number>();

/** A connection, as applications know it. */
interface Connection {
  readonly pipeline?: boolean;
  query(...args: readonly unknown[]): Promise<unknown>;
}

const Base = extensibleClient<Connection>();

/** Puts each statement into the schema of its tenant. */
class TenantClient extends Base {
  override async _query(connection: Connection, statement: object): Promise<unknown> {
    const id = tenant.getStore();
    if (id !== undefined) await connection.query(`set search_path to t${id}`);
    // oxlint-disable-next-line no-underscore-dangle -- Knex's name.
    return super._query(connection, statement);
  }
}

/** Does so by Knex, and marks each statement, as for a log. */
class MarkingClient extends Base {
  override async _query(connection: Connection, statement: { sql: string }): Promise<unknown> {
    const id = tenant.getStore();
    // oxlint-disable no-underscore-dangle -- Knex's name.
    if (id !== undefined) {
      const sql = `set search_path to t${id}`;
      await super._query(connection, { sql, bindings: [], method: 'raw' });
    }
    statement.sql = `/* marked */ ${statement.sql}`;
    return super._query(connection, statement);
    // oxlint-enable no-underscore-dangle
  }
}

const configOf = (client: unknown): Knex.Config => ({
  client: client as typeof Knex.Client,
  pool: { min: 0, max: 1 },
});
const tenantConfig = configOf(TenantClient);

type Callback = (error: unknown, result?: unknown) => void;
type Query = Connection['query'];

/** What an application makes of `query`. */
type Wrap = (query: Query) => Query;

const wraps: readonly [name: string, Wrap][] = [
  [
    'knows only callbacks',
    (query) => (statement, done) =>
      query(statement, (error: unknown, result: unknown) => (done as Callback)(error, result)),
  ],
  [
    'says something first',
    (query) => async (statement, done) =>
      told(done, async () => {
        await query("select set_config('app.said', '1', false)");
        return query(statement);
      }),
  ],
  [
    'says something first from time to time',
    (query) => {
      let times = 0;
      return async (statement, done) => {
        if (times++ % 2 > 0) return query(statement, done);
        return told(done, async () => {
          await query("select set_config('app.said', '1', false)");
          return query(statement);
        });
      };
    },
  ],
  [
    'puts all into a transaction',
    (query) => async (statement, done) =>
      told(done, async () => {
        await query('begin');
        const result = await query(statement);
        await query('commit');
        return result;
      }),
  ],
];

/** Runs something for a caller with a callback, or without. */
async function told(done: unknown, run: () => Promise<unknown>): Promise<unknown> {
  if (typeof done !== 'function') return run();
  try {
    const result = await run();
    (done as Callback)(null, result);
  } catch (error) {
    (done as Callback)(error);
  }
  return undefined;
}

describe('With code of the application around each statement, a session', () => {
  const cluster = useOwnCluster();
  const network = useChaosNetwork(cluster);
  const { split } = useInstances(cluster);

  beforeAll(async () => createRoutingSchema(cluster(), schema));

  /** Writes with the replicas current, and reads with them late by just that. */
  const pair = async (
    db: Knex,
    write: () => PromiseLike<unknown>,
    read: () => Promise<unknown>,
  ): Promise<unknown> =>
    whilePaused(cluster(), async () =>
      rwSplit(db).session({}, async () => {
        await write();
        return read();
      }),
    );

  const refusals = (db: Knex): number =>
    rwSplit(db)
      .hosts()
      .reduce((sum, { consistency }) => sum + consistency.stale, 0);

  const wrapped = (wrap: Wrap, opened: Connection[] = []): Knex.Config => ({
    pool: {
      min: 0,
      max: 1,
      afterCreate(connection: Connection, done: (error: unknown, ready: unknown) => void) {
        connection.query = wrap(connection.query.bind(connection));
        opened.push(connection);
        done(undefined, connection);
      },
    },
  });

  it.each([
    ['the driver', TenantClient],
    ['Knex', MarkingClient],
  ])('reads its tenant’s rows from wherever it has to go on, set by %s', async (_, client) => {
    const db = await split(configOf(client));
    const texts: string[] = [];
    db.on('query-response', (__, { sql }: { sql: string }) => texts.push(sql));
    const as = async <T>(id: number, fn: () => Promise<T>): Promise<T> => tenant.run(id, fn);
    const rows = async (): Promise<unknown> => db('items');
    const found: unknown[] = [];
    // So that the names are known.
    for (const id of tenants) await as(id, rows);

    for (let version = 1; version <= 2; version++) {
      for (const id of tenants) {
        const other = tenants[id % 2] ?? 1;
        const read = async (): Promise<unknown> => {
          await as(other, async () => db('items').update({ version }));
          return as(id, rows);
        };
        const write = async (): Promise<unknown> =>
          as(id, async () => db('items').update({ version }));
        expect(await pair(db, write, read)).toEqual([{ tenant: id, version }]);
        found.push(id);
      }
    }

    expect(found.length).toBe(4);
    expect(texts.filter((sql) => sql.split('marked').length > 2)).toEqual([]);
    expect(refusals(db)).toBeGreaterThan(0);
  });

  it('reads its tenant’s rows from another replica where one loses the connection', async () => {
    const db = await split(tenantConfig);
    const stalls = `case when public.served_by() = 'replica-1' then pg_sleep(600) is not null else true end`;
    const read = async (id: number, host?: string): Promise<unknown> =>
      tenant.run(id, async () =>
        db('items')
          .whereRaw(stalls)
          .select('tenant')
          .queryContext(host === undefined ? {} : { rwSplit: { host } }),
      );
    await read(2, 'replica-2');

    const rows: Promise<unknown>[] = [];
    // In turn, one of them stalls.
    for (let i = 0; i < 2; i++) rows.push(read(1));
    const [first] = cluster().replicas;
    if (first === undefined) throw new Error('There is no replica.');
    await untilStalled(first);
    await read(2, 'replica-2');
    await endStalled(first);

    expect(await Promise.all(rows)).toEqual([[{ tenant: 1 }], [{ tenant: 1 }]]);
  });

  it.each(wraps)('sees what it wrote by connections whose `query` %s', async (_, wrap) => {
    const db = await split(wrapped(wrap));
    const versions: unknown[] = [];

    for (let version = 1; version <= 4; version++) {
      const [row] = (await pair(
        db,
        () => db('t1.items').update({ version }),
        async () => db('t1.items').select('version'),
      )) as { version: number }[];
      versions.push(row?.version);
    }

    expect(versions).toEqual([1, 2, 3, 4]);
  });

  const asksPosition = (statement: unknown): boolean =>
    (statement as { text?: unknown }).text === WRITTEN;

  const silences: readonly [name: string, () => Wrap][] = [
    [
      'the network swallows it',
      () => {
        let sent: Promise<unknown> = Promise.resolve();
        return (query) => (statement, done) => {
          if (!asksPosition(statement)) {
            sent = new Promise((resolve) => {
              void query(statement, (...answer: Parameters<Callback>) => {
                resolve(answer);
                if (typeof done === 'function') (done as Callback)(...answer);
              });
            });
            return sent;
          }
          return told(done, async () => {
            await sent;
            network.to('primary').blackHoleEstablished();
            return query(statement);
          });
        };
      },
    ],
    ...inLong<[string, () => Wrap]>([
      'the server is slow',
      () => (query) => (statement, done) =>
        query(asksPosition(statement) ? { text: 'select pg_sleep(600)' } : statement, done),
    ]),
  ];

  it.each(silences)(
    'has its write answered where its position does not come: %s',
    async (_, wrap) => {
      const opened: Connection[] = [];
      const db = await split({ ...network.config(), ...wrapped(once(wrap()), opened) });
      const before = opened.length;

      const start = performance.now();
      await rwSplit(db).session({}, async () => {
        const [{ id }] = await db('notes').insert({}).returning('id');
        expect(await db('notes').where({ id }).pluck('id')).toEqual([id]);
      });

      // The write waits a second for its position, and the read for no place in the pool.
      expect(performance.now() - start).toBeLessThan(1000 + machineMillis);
      // The read found no connection to the primary that it could use.
      expect(opened.length).toBe(before + 1);
      const end = performance.now();
      await db.destroy();
      expect(performance.now() - end).toBeLessThan(1000 + machineMillis);
    },
  );
});

/** Wraps the connections that are open when the first position is asked for, up to that. */
function once(wrap: Wrap): Wrap {
  let isOver = false;
  return (query) => {
    const wrapped = wrap(query);
    return (statement, done) => {
      const isLast = (statement as { text?: unknown }).text === WRITTEN;
      const use = isOver ? query : wrapped;
      if (isLast) isOver = true;
      return use(statement, done);
    };
  };
}

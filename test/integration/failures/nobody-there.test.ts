import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { NoHostAvailableError, rwSplit } from '../../../lib/index.ts';
import { PortReservation } from '../../../lib/testing/port-reservation.ts';
import { awaitHost } from '../../support/await-host.ts';
import { type ChaosProxy, startChaosProxy } from '../../support/chaos-proxy.ts';
import { runProgram } from '../../support/child.ts';
import { addressOf, useFailover } from '../../support/failover.ts';
import { machineMillis } from '../../support/outage.ts';

const budgetMillis = 1000;
const waitMillis = 500;

const read = (db: Knex): PromiseLike<unknown> => db.raw('select 1');
const write = (db: Knex): PromiseLike<unknown> => db('notes').insert({ body: 'in vain' });
const transaction = (db: Knex): PromiseLike<unknown> => db.transaction(async () => undefined);

const { cluster, hosts, cold } = useFailover();

describe('Hosts of which none can be reached', () => {
  const ports: PortReservation[] = [];
  const proxies: ChaosProxy[] = [];

  beforeAll(async () => {
    // Held without listening, so that nobody else gets it: it refuses.
    const reservation = await PortReservation.make(1);
    await reservation.release();
    ports.push(reservation);
    const proxy = await startChaosProxy(hosts()[0]);
    proxy.blackHole();
    proxies.push(proxy);
  });

  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  });

  const closed = (): number => ports[0]?.ports[0] ?? 0;

  it.each([
    ['a read', read],
    ['a write', write],
    ['a transaction', transaction],
  ])('fail %s within its time, each with a cause of its own', async (_, run) => {
    const [first] = hosts();
    const { db } = cold({
      connection: { ...first.connection, port: closed() },
      acquireConnectionTimeout: budgetMillis,
      rwSplit: {
        replicas: [
          { name: 'silent', host: '127.0.0.1', port: proxies[0]?.port },
          { name: 'nameless', host: 'replica.invalid' },
        ],
        failover: { waitMillis },
      },
    });

    const begin = performance.now();
    const error = await Promise.resolve(run(db)).catch((thrown: unknown) => thrown);
    const millis = performance.now() - begin;

    expect(error).toBeInstanceOf(NoHostAvailableError);
    expect(error).toMatchObject({
      hosts: [
        {
          name: `127.0.0.1:${closed()}`,
          state: 'unreachable',
          lastError: { code: 'ECONNREFUSED' },
        },
        { name: 'silent', state: 'unreachable' },
        { name: 'nameless', state: 'unreachable' },
      ],
    });
    const { message } = error as Error;
    expect(message).toMatch(/silent unreachable \(.*(no answer|no connection|timeout)/);
    expect(message).toMatch(/nameless unreachable \(.*(ENOTFOUND|EAI_AGAIN)/);
    expect(message).not.toMatch(/pool is probably full/);
    expect(message).not.toContain(first.connection.password);
    expect(millis).toBeLessThan(budgetMillis + machineMillis);
  });
});

describe('A client that starts while hosts are missing', () => {
  it('serves what the others can, and the rest once they are there', async () => {
    const [first, , third] = hosts();
    await first.kill();
    const { db, servers } = cold({
      connection: first.connection,
      rwSplit: {
        replicas: [
          { name: 'nameless', host: 'replica.invalid' },
          { name: 'replica-2', host: third.host, port: third.port },
        ],
        // The age of what the replica has replayed says nothing where there is nothing to replay.
        maxLag: { millis: 1 },
      },
    });

    const writing = db('notes')
      .insert({ body: 'waited for' })
      .then(() => 'done');
    for (let n = 0; n < 5; n++) await db('notes').count();
    expect(new Set(servers())).toEqual(new Set(['replica-2']));
    await first.start();

    expect(await writing).toBe('done');
    expect(servers()).toEqual(['primary']);
    await awaitHost(db, 'nameless', ({ state }) => state === 'down');
    expect(rwSplit(db).hosts()[1]?.lastError).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });

  it('writes while every replica is missing', async () => {
    const [first, second, third] = hosts();
    await Promise.all([second.kill(), third.kill()]);
    const { db, servers } = cold();

    await db('notes').insert({ body: 'alone' });
    await db('notes').count();

    expect(servers()).toEqual(['primary', 'primary']);
    expect(rwSplit(db).hosts()[0]?.name).toBe(addressOf(first));
  });

  it('leaves no rejection unhandled', async () => {
    const [first, , third] = hosts();
    await first.kill();

    const ended = await runProgram(`
      const { RWSplitClient, rwSplit } = library();
      const db = knex({
        client: RWSplitClient,
        connection: ${JSON.stringify(cluster().connection(first))},
        pool: { min: 0 },
        log: { warn() {} },
        rwSplit: {
          replicas: [
            { name: 'nameless', host: 'replica.invalid' },
            { host: ${JSON.stringify(third.host)}, port: ${third.port} },
          ],
          failover: { waitMillis: 300 },
          health: { intervalMillis: 50 },
        },
      });
      const seen = [];
      process.on('unhandledRejection', (error) => seen.push('unhandled ' + error.message));
      process.on('uncaughtException', (error) => seen.push('uncaught ' + error.message));
      const write = db('notes').insert({ body: 'x' }).then(() => 'written', (error) => error.code);
      const { rows } = await db.raw('select served_by() as host');
      seen.push(rows[0].host, await write);
      await db.destroy();
      print(seen);
    `);

    expect(ended).toMatchObject({ exitCode: 0, printed: ['replica-2', 'RWSPLIT_NO_HOST'] });
  });
});

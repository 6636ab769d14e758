import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

/** What sockets were given to send: how many buffers at a time. */
const writes: number[] = [];

class WatchedSocket extends Socket {
  override _write(...args: Parameters<Socket['_write']>): void {
    writes.push(1);
    // oxlint-disable-next-line no-underscore-dangle -- Node's name.
    super._write(...args);
  }

  override _writev(...args: Parameters<NonNullable<Socket['_writev']>>): void {
    const [chunks] = args;
    writes.push(chunks.length);
    // oxlint-disable-next-line no-underscore-dangle -- Node's name.
    super._writev?.(...args);
  }
}

describe('What a connection is given to send', () => {
  const cluster = useRoutingDatabase();
  const { split, plain } = useInstances(cluster);
  const watched = (): Knex.Config => ({
    connection: { ...cluster().connection(), stream: () => new WatchedSocket() },
    pool: { min: 1, max: 1 },
  });

  async function during(run: () => PromiseLike<unknown>): Promise<readonly number[]> {
    await run();
    writes.length = 0;
    await run();
    return writes.splice(0);
  }

  it('is five buffers for a query with plain Knex', async () => {
    const db = plain(watched());

    expect(await during(() => db('here').where({ one: 1 }))).toEqual([5]);
  });

  it.each<[string, Knex.Config['rwSplit'], (db: Knex) => PromiseLike<unknown>]>([
    ['a query', { consistency: 'eventual' }, (db) => db('here').where({ one: 1 })],
    ['a write', { consistency: 'eventual' }, (db) => db('notes').insert({ rank: 1 })],
    [
      'a write and the question for its position',
      { consistency: 'session' },
      (db) => db('notes').insert({ rank: 1 }),
    ],
  ])('is one buffer for %s', async (_, options, run) => {
    const db = await split({
      ...watched(),
      rwSplit: { health: { intervalMillis: 60_000 }, ...options },
    });

    expect(await during(() => run(db))).toEqual([1]);
  });
});

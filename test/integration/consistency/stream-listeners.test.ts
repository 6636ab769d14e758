import { AsyncLocalStorage } from 'node:async_hooks';
import { PassThrough, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { inLong } from '../../support/long.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { delayCommits } from '../../support/replay-delay.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { useSplit } from '../../support/split.ts';

const lateMillis = 600_000;
const rows = 20;

/** Has a stream run, and `look` called from where its rows, or its end, are told of. */
type Consume = (db: Knex, look: () => void) => Promise<unknown>;

const numbers = (db: Knex): Knex.QueryBuilder =>
  db.select('n').from(db.raw(`generate_series(1, ${rows}) n`));

const sink = (write: () => void): Writable =>
  new Writable({
    objectMode: true,
    write(_row, _encoding, done) {
      write();
      done();
    },
  });

const on =
  (name: string): Consume =>
  (db, look) =>
    listen(numbers(db).stream(), name, look);

const ways: readonly [name: string, Consume][] = [
  ["'data'", on('data')],
  ["'end'", on('end')],
  [
    "'error'",
    (db, look) =>
      listen(db.raw('select 1 / (3 - n) from generate_series(1, 5) n').stream(), 'error', look),
  ],
  [
    "'end' of a write",
    (db, look) => listen(db('notes').insert({ rank: 2 }).returning('id').stream(), 'end', look),
  ],
  [
    "'data' in a transaction",
    (db, look) => db.transaction((trx) => listen(numbers(trx).stream(), 'data', look)),
  ],
  ['a handler', (db, look) => numbers(db).stream((stream) => stream.on('data', look))],
  [
    'for await',
    async (db, look) => {
      for await (const _ of numbers(db).stream({ highWaterMark: 3 })) look();
    },
  ],
  ['a pipeline', (db, look) => pipeline(numbers(db).stream(), sink(look))],
  ...inLong<[name: string, Consume]>(
    ["'close'", on('close')],
    [
      'a transform',
      (db, look) =>
        pipeline(
          numbers(db).stream(),
          new Transform({
            objectMode: true,
            transform(row, _encoding, done) {
              look();
              done(null, row);
            },
          }),
          sink(() => undefined),
        ),
    ],
    [
      "'finish' of what it is piped into",
      (db, look) => listen(numbers(db).pipe(new PassThrough({ objectMode: true })), 'finish', look),
    ],
  ),
];

describe('What listens to a stream in a session', () => {
  const cluster = useOwnCluster({ replicas: 1 });
  const split = useSplit(cluster);

  beforeAll(async () => {
    await createRoutingSchema(cluster());
    await Promise.all(cluster().replicas.map(async (host) => delayCommits(host, lateMillis)));
  });

  it.each(ways)("is in it, and in its caller's scope: %s", async (_, consume) => {
    const { db } = await split.warm();
    const scope = new AsyncLocalStorage<string>();
    const seen: Promise<unknown[]>[] = [];
    const look = async (id: number): Promise<unknown[]> => {
      const store = scope.getStore();
      return [store, await db('notes').where({ id }).pluck('id')];
    };

    const id = await rwSplit(db).session({}, () =>
      scope.run('caller', async () => {
        const [row] = await db('notes').insert({ rank: 1 }).returning('id');
        await consume(db, () => void seen.push(look(row.id)));
        return row.id as number;
      }),
    );

    const all = await Promise.all(seen);
    expect(all.length).toBeGreaterThan(0);
    expect(all).toEqual(all.map(() => ['caller', [id]]));
    expect(rwSplit(db).token()).toBeUndefined();
  });
});

/** Resolves when a stream has closed, or failed: Knex then leaves it open. */
function listen(stream: NodeJS.EventEmitter, name: string, look: () => void): Promise<void> {
  return new Promise((resolve) => {
    stream.on(name, look);
    stream.on('close', () => resolve());
    stream.on('error', () => resolve());
    if (name !== 'data') (stream as Writable & { resume(): void }).resume();
  });
}

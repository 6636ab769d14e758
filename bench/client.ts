import type { Cluster } from '../lib/testing/index.ts';
import type { Bench } from './bench-run.ts';
import { quantileOf } from './quantile.ts';
import { ratioOf } from './query-figures.ts';
import { RecordedSocket, type Recording } from './recorded/recorded-socket.ts';
import { placeOf } from './results/place.ts';
import type { ClientFigure } from './results/section.ts';
import { measureCell } from './rounds.ts';
import { driver } from './subjects/driver.ts';
import { ownAlone, ownAlonePrepared, plainKnex } from './subjects/knex-subjects.ts';
import { closeAll, openAll } from './subjects/open-all.ts';
import { peers } from './subjects/peers.ts';
import { createShop, dropShop } from './subjects/shop.ts';
import { type Opened, type QueryName, queryNames, type Subject } from './subjects/subject.ts';

const concurrency = 10;
const usual = { rounds: 60, millis: 25 };
const smoke = { rounds: 1, millis: 0 };

// Few enough for each to be asked soon.
const variants = 16;

// The one that comes near: by what it does itself, without its servers.
const kysely = peers.filter(({ name }) => name === 'kysely-replication');

/** Measures the client's own time: the servers' answers come from memory. */
export const benchClient: Bench = async ({ isSmoke, cluster, keep }) => {
  const servers = await cluster();
  await createShop(servers);
  const subjects = [driver, plainKnex, ownAlone, ownAlonePrepared, ...kysely];
  try {
    const there = subjects.filter(({ missing }) => missing?.() === undefined);
    const opened = await openFew(recorded(servers), there);
    const figures: ClientFigure[] = [];
    try {
      console.log(`\nThe client's own time for a query, in µs, ${concurrency} at once`);
      for (const query of queryNames.filter((name) => name !== 'stream')) {
        await askAll(opened.values(), query);
        const samples = await measureCell(opened, { query, concurrency }, isSmoke ? smoke : usual);
        for (const [subject, own] of samples) {
          const micros = quantileOf(
            own.map(({ cpuMicros }) => cpuMicros),
            0.5,
          );
          const ratio = ratioOf(samples, 'cpuMicros', subject, plainKnex.name);
          figures.push({ query, subject, micros, ratio });
          console.log(
            `  ${query.padEnd(12)} ${subject.padEnd(34)} ${micros.toFixed(1).padStart(6)}`,
          );
        }
      }
    } finally {
      await closeAll(opened);
    }
    keep({ client: { place: await placeOf(servers), checks: [], figures, ...usual } });
    return true;
  } finally {
    await dropShop(servers);
  }
};

/** The same servers, each of whose answers is kept. */
function recorded(servers: Cluster): Cluster {
  const connection = (...args: Parameters<Cluster['connection']>): object => {
    // Nobody is answered by what another one was told.
    const recording: Recording = new Map();
    return { ...servers.connection(...args), stream: () => new RecordedSocket(recording) };
  };
  return new Proxy(servers, {
    get: (target, key) => (key === 'connection' ? connection : Reflect.get(target, key, target)),
  });
}

/** Opens subjects whose queries have a few variants each. */
async function openFew(
  servers: Cluster,
  there: readonly Subject[],
): Promise<ReadonlyMap<string, Opened>> {
  const opened = await openAll(servers, there);
  return new Map(
    [...opened].map(([name, all]) => {
      const few = queryNames.map((query) => {
        const { [query]: run } = all;
        return [query, run && ((number: number) => run(number % variants))];
      });
      return [name, { ...all, ...Object.fromEntries(few) }];
    }),
  );
}

// One after the other: at the same time, a transaction could be told of what another one did.
async function askAll(opened: Iterable<Opened>, query: QueryName): Promise<void> {
  for (const { [query]: run } of opened) {
    for (let number = 0; number < variants; number++) await run?.(number);
  }
}

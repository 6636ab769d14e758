import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import express, { type Express } from 'express';
import type { Knex } from 'knex';
import { sessionMiddleware, type SessionMiddlewareOptions } from '../../../lib/index.ts';
import { Browser } from '../../support/browser.ts';
import { useHttpServers } from '../../support/http-servers.ts';
import { isLong } from '../../support/long.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { delayReplay, type ReplayDelay } from '../../support/replay-delay.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { useSplit } from '../../support/split.ts';

const browsers = 50;
const pairs = isLong ? 10_000 : 200;

/** An application that keeps a number for each of its visitors. */
function numbers(db: Knex, options: SessionMiddlewareOptions): Express {
  const app = express().use(sessionMiddleware(db, options));
  app.put('/:visitor/:number', async ({ params: { visitor, number } }, response) => {
    await db('numbers').where({ visitor }).update({ number });
    response.sendStatus(204);
  });
  app.get('/:visitor', async ({ params: { visitor } }, response) => {
    response.json(await db('numbers').where({ visitor }).pluck('number'));
  });
  return app;
}

describe('A request right after one that wrote, on replicas that are late at random', () => {
  const cluster = useOwnCluster();
  const splits = useSplit(cluster);
  const listen = useHttpServers();
  let delay: ReplayDelay | undefined;

  beforeAll(async () => {
    await cluster().primary.query(`
      create table numbers (visitor int primary key, number int);
      insert into numbers select visitor, -1 from generate_series(0, ${browsers - 1}) visitor`);
    await cluster().waitForReplay();
  });
  beforeEach(() => {
    delay = delayReplay(cluster().replicas, { random: seededRandom(1) });
  });
  afterEach(async () => delay?.stop());

  it('is never stale with a cookie, whichever process serves it', async () => {
    expect(await staleReads({ cookie: 'position', secret: 's1' })).toEqual([]);
  });

  it("is stale at times with 'eventual'", async () => {
    const stale = await staleReads({ cookie: 'position', secret: 's1', consistency: 'eventual' });

    expect(stale.length).toBeGreaterThan(pairs / 10);
  });

  /** Has each browser write at one process and read at the other, in turn. */
  async function staleReads(options: SessionMiddlewareOptions): Promise<string[]> {
    const start = async (): Promise<string> => {
      const { db } = await splits.warm({ pool: { min: 0, max: 15 } });
      return listen(numbers(db, options));
    };
    const [one, other] = [await start(), await start()];
    const stale: string[] = [];

    const visit = async (visitor: number): Promise<void> => {
      const browser = new Browser();
      for (let n = 0; n < pairs / browsers; n++) {
        const [writer, reader] = n % 2 === 0 ? [one, other] : [other, one];
        const written = await browser.send(writer, `/${visitor}/${n}`, { method: 'PUT' });
        const read = await browser.read(reader, `/${visitor}`);
        if (written.status !== 204 || String(read) !== String(n)) {
          stale.push(`${visitor} read ${String(read)} after ${written.status} for ${n}`);
        }
      }
    };
    await Promise.all(Array.from({ length: browsers }, async (_, visitor) => visit(visitor)));
    return stale;
  }
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import { finalState } from '../../support/final-state.ts';
import type { History, HistoryEvent } from '../../support/history.ts';
import { findViolations } from '../../support/history-checker.ts';
import { startHistoryProcess } from '../../support/history-process.ts';
import {
  historySchema,
  runSteps,
  runTurn,
  type Step,
  type Turn,
  type TurnResult,
} from '../../support/history-turn.ts';
import { isLong } from '../../support/long.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { delayReplay, type ReplayDelay } from '../../support/replay-delay.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { replicasOf, useSplit } from '../../support/split.ts';

const workers = 50;
const pairs = isLong ? 10_000 : 200;
const reads = isLong ? 150 : 40;

type Place = (turn: Turn) => Promise<TurnResult>;

describe('On replicas that are late at random', () => {
  const cluster = useOwnCluster();
  const split = useSplit(cluster);
  const config: Knex.Config = { pool: { min: 0, max: 15 } };
  let delay: ReplayDelay | undefined;

  beforeAll(async () => createRoutingSchema(cluster(), historySchema));
  beforeEach(() => {
    delay = delayReplay(cluster().replicas, { random: seededRandom(1) });
  });
  afterEach(async () => delay?.stop());

  it('a read right after a write is never stale in a session', async () => {
    const { db } = await split.warm(config);

    const events = await runPairs('one process', async (session, all) => {
      const { events } = await runTurn(db, 'own', { session, steps: all.flat() });
      return events;
    });

    expect(events.length).toBe(2 * pairs);
    expect(await brokenIn(events)).toEqual([]);
    // It was no matter of course, and not for want of replicas.
    const counts = rwSplit(db)
      .hosts()
      .map(({ consistency }) => consistency);
    expect(Math.max(...counts.map(({ fresh, checked }) => fresh + checked))).toBeGreaterThan(0);
    expect(Math.max(...counts.map(({ stale }) => stale))).toBeGreaterThan(0);
  });

  it('a read right after a write is never stale outside of any scope', async () => {
    const { db } = await split.warm(config);

    const events = await runPairs('no scope', async (session, all) =>
      runSteps(db, 'own', { session, steps: all.flat() }),
    );

    expect(await brokenIn(events)).toEqual([]);
  });

  it('a read right after a write is never stale in another process that was given the token', async () => {
    const { db } = await split.warm(config);
    const other = await startHistoryProcess('other', {
      ...config,
      connection: cluster().connection(),
      rwSplit: { replicas: replicasOf(cluster()) },
    });
    const here: Place = async (turn) => runTurn(db, 'own', turn);
    const there: Place = async (turn) => other.run(turn);

    const events = await runPairs('two processes', async (session, all) => {
      const events = [];
      for (const [n, [write, read]] of all.entries()) {
        const [writer, reader] = n % 2 === 0 ? [here, there] : [there, here];
        const written = await writer({ session, steps: [write] });
        const seen = await reader({ session, steps: [read], after: written.token });
        events.push(...written.events, ...seen.events);
      }
      return events;
    });
    await other.stop();

    expect(new Set(events.map(({ process }) => process))).toEqual(new Set(['own', 'other']));
    expect(await brokenIn(events)).toEqual([]);
  });

  it("a read right after a write is stale at times with 'eventual'", async () => {
    const { db } = await split.warm({ ...config, rwSplit: { consistency: 'eventual' } });

    const events = await runPairs('eventual', async (session, all) => {
      const { events } = await runTurn(db, 'own', { session, steps: all.flat() });
      return events;
    });

    expect((await brokenIn(events)).length).toBeGreaterThan(pairs / 10);
  });

  it.each([
    [
      'never go back in time, be it with each read in a session of its own that has the token',
      true,
    ],
    ['go back in time at times if they are not monotonic', false],
  ])('reads of sessions %s', async (name, isMonotonic) => {
    const { db } = await split.warm({ ...config, rwSplit: { consistency: 'eventual' } });
    const over = new AbortController();
    const key = `${name} key`;
    const write = async (): Promise<History> => {
      const events: HistoryEvent[] = [];
      for (let n = 0; !over.signal.aborted; n++) {
        const steps: Step[] = [{ kind: 'write', key, version: `${key} ${n}` }];
        events.push(...(await runTurn(db, 'own', { session: key, steps })).events);
        await sleep(10);
      }
      return events;
    };
    const readOn = async (session: string): Promise<History> => {
      const events: HistoryEvent[] = [];
      let after: string | undefined;
      for (let n = 0; n < reads; n++) {
        const steps: Step[] = [{ kind: 'read', key }];
        const result = await runTurn(db, 'own', { session, isMonotonic, after, steps });
        events.push(...result.events);
        after = result.token;
        await sleep(5);
      }
      return events;
    };

    const writer = write();
    const readers = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => readOn(`${name} ${n}`)),
    );
    over.abort();
    const events = [...(await writer), ...readers.flat()];
    const broken = await brokenIn(events.map((event) => ({ ...event, isMonotonic: true })));

    expect(events.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
    expect(broken.length > 0).toBe(!isMonotonic);
  });

  /** Has each worker do its share of the pairs, and checks that all went well. */
  async function runPairs(
    name: string,
    work: (session: string, all: [Step, Step][]) => Promise<History>,
  ): Promise<History> {
    const events = await Promise.all(
      Array.from({ length: workers }, async (_, worker) => {
        const session = `${name} ${worker}`;
        const all = Array.from({ length: pairs / workers }, (__, n): [Step, Step] => {
          const key = `${session} ${n}`;
          return [
            { kind: 'write', key, version: key },
            { kind: 'read', key },
          ];
        });
        return work(session, all);
      }),
    );
    expect(events.flat().filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
    return events.flat();
  }

  /** Every promise broken, and which server did it. */
  async function brokenIn(events: History): Promise<string[]> {
    const keys = new Set(events.flatMap(({ operations }) => operations.map(({ key }) => key)));
    const final = await finalState(cluster().primary);
    const own = new Map([...final].filter(([key]) => keys.has(key)));
    return findViolations(events, own).map(
      ({ rule, key, event }) => `${rule}: ${key} on ${JSON.stringify(event?.operations)}`,
    );
  }
});

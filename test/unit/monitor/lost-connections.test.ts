import { describe, expect, it } from '@jest/globals';
import type { Host } from '../../../lib/hosts/host.ts';
import { listenToServer, serverFacts } from '../../../lib/hosts/server-facts.ts';
import { LostConnections } from '../../../lib/monitor/lost-connections.ts';
import { Probe } from '../../../lib/monitor/probe.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeProbeClient } from '../../support/fake-probe-client.ts';
import { settle } from '../../support/fake-servers.ts';
import { healthSettings, hostSettings, makeHost } from '../../support/hosts.ts';

/** A connection that waits for an answer, and what became of it. */
interface Waiting {
  readyForQuery: boolean;
  readonly processID: number | null;
  readonly connection: { readonly stream: { bytesRead: number; destroy(error: Error): unknown } };
  readonly errors: Error[];
}

interface Bench {
  readonly host: Host;
  readonly lost: LostConnections;
  /** The pids that the server was asked about. */
  readonly asked: unknown[];
  /** What the server is at work on; undefined where it does not answer the question. */
  busy: readonly number[] | undefined;
  readonly take: (processID?: number | null) => Promise<Waiting>;
  /** Looks after some time, as with each good probe. */
  readonly look: (millis: number, hasTrueProcessIds?: boolean) => Promise<void>;
}

async function bench(): Promise<Bench> {
  const clock = new FakeClock();
  let made = 0;
  const create = async (): Promise<Waiting> => {
    const errors: Error[] = [];
    const stream = {
      bytesRead: 1,
      bytesWritten: 2,
      destroy: (error: Error) => errors.push(error),
    };
    return { readyForQuery: false, processID: ++made, connection: { stream }, errors };
  };
  const host = makeHost(hostSettings('a'), 'replica', { create, max: 5 }, clock);
  const asked: unknown[] = [];
  const client = new FakeProbeClient(() => {
    if (self.busy === undefined) throw new Error('the question failed');
    return { rows: self.busy.map((pid) => ({ pid })) };
  });
  const ask = client.query.bind(client);
  client.query = (query) => {
    if (query.text.includes('pg_stat_activity')) asked.push(query.values?.[0]);
    return query.text.includes('pg_stat_activity') ? ask(query) : Promise.resolve({ rows: [{}] });
  };
  const probe = new Probe(async (onClient) => {
    onClient(client);
    return client;
  }, clock);
  await probe.run(1000);
  const lost = new LostConnections(host, probe, { ...healthSettings, hangMillis: 3000 }, clock);

  const self: Bench = {
    host,
    lost,
    asked,
    busy: [],
    take: async (processID) => {
      // The pool gives out what `create` makes.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const waiting = (await host.pool.acquire().promise) as Waiting;
      return processID === undefined ? waiting : Object.assign(waiting, { processID });
    },
    look: async (millis, hasTrueProcessIds = true) => {
      clock.advance(millis);
      lost.look(hasTrueProcessIds);
      await settle();
    },
  };
  return self;
}

describe('LostConnections', () => {
  it('severs one that its server has nothing to do for, at the second look', async () => {
    const { take, look, asked } = await bench();
    const waiting = await take();

    await look(0);
    await look(2999);
    expect(asked).toEqual([]);
    await look(1);
    expect(asked).toEqual([[waiting.processID]]);
    expect(waiting.errors).toEqual([]);
    await look(1000);

    expect(waiting.errors).toEqual([expect.objectContaining({ code: 'ETIMEDOUT' })]);
  });

  it('leaves a statement that takes long to its server', async () => {
    const self = await bench();
    const waiting = await self.take();
    self.busy = [waiting.processID ?? 0];

    await self.look(0);
    for (let i = 0; i < 5; i++) await self.look(3000);

    expect(waiting.errors).toEqual([]);
    expect(self.asked).toHaveLength(5);
  });

  it('asks nothing of one that goes through a pooler, though the probe does not', async () => {
    const { take, look, asked } = await bench();
    const waiting = await take();
    listenToServer(waiting, () => undefined);
    Object.assign(serverFacts(waiting) ?? {}, { isPooled: true });

    await look(0);
    await look(3000);
    await look(3000);

    expect(asked).toEqual([]);
    expect(waiting.errors).toEqual([]);
  });

  it('begins anew whenever something comes', async () => {
    const { take, look, asked } = await bench();
    const waiting = await take();

    await look(0);
    await look(2000);
    waiting.connection.stream.bytesRead++;
    await look(2000);
    await look(2000);

    expect(asked).toEqual([]);
  });

  it('keeps one whose answer comes between the two looks', async () => {
    const { take, look } = await bench();
    const waiting = await take();

    await look(0);
    await look(3000);
    waiting.connection.stream.bytesRead++;
    await look(1000);

    expect(waiting.errors).toEqual([]);
  });

  it.each([
    ['that is ready for a statement', { readyForQuery: true }],
    ['whose process is not known', { processID: null }],
  ])('asks about none %s', async (_, state) => {
    const { take, look, asked } = await bench();
    const waiting = Object.assign(await take(), state);

    await look(0);
    for (let i = 0; i < 3; i++) await look(3000);

    expect(asked).toEqual([]);
    expect(waiting.errors).toEqual([]);
  });

  it('asks nothing behind a pooler, which renames processes', async () => {
    const { take, look, asked } = await bench();
    await take();

    await look(0, false);
    await look(9000, false);

    expect(asked).toEqual([]);
  });

  it('severs nothing while the server does not answer the question', async () => {
    const self = await bench();
    const waiting = await self.take();
    self.busy = undefined;

    await self.look(0);
    for (let i = 0; i < 3; i++) await self.look(3000);

    expect(waiting.errors).toEqual([]);
  });

  it('forgets a connection that went back', async () => {
    const { host, take, look, asked } = await bench();
    const waiting = await take();

    await look(0);
    host.pool.release(waiting);
    await look(5000);
    await take();
    await look(0);

    expect(asked).toEqual([]);
  });

  it('asks about several at once', async () => {
    const { take, look, asked } = await bench();
    const all = [await take(), await take()];

    await look(0);
    await look(3000);

    expect(asked).toEqual([all.map(({ processID }) => processID)]);
  });
});

import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Client, ClientConfig } from 'pg';
import { systemClock } from '../../../lib/clock.ts';
import type { ServerReport } from '../../../lib/hosts/server-report.ts';
import { Probe } from '../../../lib/monitor/probe.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { until } from '../../../lib/testing/until.ts';
import { runProgram } from '../../support/child.ts';
import { dialProbe } from '../../support/dial-probe.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { root } from '../../support/source-file.ts';

const timeoutMillis = 5_000;

describe('A probe', () => {
  const cluster = useOwnCluster();
  const probes: Probe[] = [];

  afterEach(() => {
    for (const probe of probes.splice(0)) probe.destroy();
  });

  function host(name: string): TestHost {
    const found = cluster().hosts.find((other) => other.name === name);
    if (found === undefined) throw new Error(`There is no ${name}.`);
    return found;
  }

  function probeOf(
    name: string,
    more: ClientConfig = {},
    { clients, onLost }: { clients?: Client[]; onLost?: () => void } = {},
  ): Probe {
    const dial = dialProbe({ ...host(name).connection, ...more }, clients);
    const probe = new Probe(dial, systemClock, onLost);
    probes.push(probe);
    return probe;
  }

  async function report(probe: Probe): Promise<ServerReport> {
    const outcome = await probe.run(timeoutMillis);
    if (!outcome.isGood) throw outcome.error;
    return outcome.report;
  }

  async function createRole(name: string, ...settings: readonly string[]): Promise<ClientConfig> {
    await cluster().primary.query(`create role ${name} login password 'secret'`);
    for (const setting of settings) {
      // oxlint-disable-next-line no-await-in-loop -- two at once would change the same row.
      await cluster().primary.query(`alter role ${name} set ${setting}`);
    }
    await cluster().waitForReplay();
    return { user: name, password: 'secret' };
  }

  it('reports a primary', async () => {
    const found = await report(probeOf('primary'));

    expect(found).toEqual({
      isInRecovery: false,
      isReadOnlyByDefault: false,
      systemId: expect.stringMatching(/^\d{10,}$/),
      timeline: 1,
      isTimelineCurrent: true,
      position: expect.any(BigInt),
      receivedPosition: undefined,
      replayAgeMillis: undefined,
      isReplayPaused: undefined,
      isReceiving: false,
      server: expect.stringMatching(/^127\.0\.0\.1:\d+ \d+\.\d+$/),
      hasTrueProcessIds: true,
    });
  });

  it('reports a replica', async () => {
    await cluster().primary.query('create table notes as select 1 as id');
    await cluster().waitForReplay();

    const primary = await report(probeOf('primary'));
    const replica = await report(probeOf('replica-1'));

    expect(replica).toEqual({
      isInRecovery: true,
      isReadOnlyByDefault: false,
      systemId: primary.systemId,
      timeline: 1,
      isTimelineCurrent: true,
      position: expect.any(BigInt),
      receivedPosition: expect.any(BigInt),
      replayAgeMillis: expect.any(Number),
      isReplayPaused: false,
      isReceiving: true,
      server: expect.stringMatching(/^127\.0\.0\.1:\d+ \d+\.\d+$/),
      hasTrueProcessIds: true,
    });
    expect(replica.server).not.toBe(primary.server);
    expect(replica.replayAgeMillis).toBeLessThan(10_000);
  });

  it('sees what was written and replayed', async () => {
    const [primary, replica] = [probeOf('primary'), probeOf('replica-1')];
    const before = await report(primary);

    await cluster().primary.query('insert into notes values (2)');
    await cluster().waitForReplay();

    const after = await report(primary);
    expect(after.position).toBeGreaterThan(before.position ?? 0n);
    expect((await report(replica)).position).toBeGreaterThanOrEqual(after.position ?? 0n);
  });

  it('needs no more than a login, but for the timeline of a replica', async () => {
    const plain = await createRole('plain');

    const [primary, replica] = [probeOf('primary', plain), probeOf('replica-1', plain)];

    expect(await report(primary)).toMatchObject({ timeline: 1, isTimelineCurrent: true });
    expect(await report(replica)).toMatchObject({
      isInRecovery: true,
      systemId: (await report(primary)).systemId,
      timeline: 1,
      isTimelineCurrent: false,
      position: expect.any(BigInt),
      receivedPosition: expect.any(BigInt),
      isReplayPaused: false,
      isReceiving: true,
      server: expect.any(String),
      hasTrueProcessIds: true,
    });
  });

  it('does without what is forbidden', async () => {
    const functions = ['control_system', 'control_checkpoint', 'is_wal_replay_paused'];
    const each = `function ${functions.map((name) => `pg_catalog.pg_${name}()`).join(', ')}`;
    await cluster().primary.query(`revoke execute on ${each} from public`);
    const bare = await createRole('bare');

    const primary = await report(probeOf('primary', bare));
    const probe = probeOf('replica-1', bare);
    const [first, second] = [await report(probe), await report(probe)];

    await cluster().primary.query(`grant execute on ${each} to public`);
    expect(primary).toMatchObject({ systemId: undefined, timeline: 1, isTimelineCurrent: true });
    for (const found of [first, second]) {
      expect(found).toMatchObject({
        isInRecovery: true,
        systemId: undefined,
        timeline: undefined,
        isTimelineCurrent: false,
        isReplayPaused: undefined,
        position: expect.any(BigInt),
        isReceiving: true,
        server: expect.any(String),
        hasTrueProcessIds: true,
      });
    }
  });

  it('is not disturbed by the settings of its role', async () => {
    await cluster().primary.query(`
      create schema odd;
      grant usage on schema odd to public;
      create function odd.pg_is_in_recovery() returns boolean language sql as 'select null::boolean'
    `);
    const odd = await createRole(
      'odd',
      'default_transaction_read_only = on',
      'statement_timeout = 1',
      'search_path = odd, pg_catalog',
      `timezone = 'Asia/Kathmandu'`,
    );

    const plain = await report(probeOf('primary'));
    const probe = probeOf('primary', odd);
    const found = await Promise.all([report(probe), report(probe)]);

    for (const one of found) {
      expect(one).toEqual({ ...plain, isReadOnlyByDefault: true, position: expect.any(BigInt) });
    }
  });

  it('sees that the replay is paused', async () => {
    const probe = probeOf('replica-1');

    await host('replica-1').pauseReplay();
    await cluster().primary.query('insert into notes values (3)');
    const { position: written = 0n } = await report(probeOf('primary'));
    await until('it is received', timeoutMillis, async () => {
      const { receivedPosition } = await report(probe);
      return (receivedPosition ?? 0n) >= written;
    });
    const paused = await report(probe);
    await host('replica-1').resumeReplay();
    const resumed = await report(probe);

    expect(paused).toMatchObject({ isReplayPaused: true, isReceiving: true });
    expect(paused.position).toBeLessThan(written);
    expect(resumed.isReplayPaused).toBe(false);
  });

  it('sees that a replica receives nothing any more', async () => {
    const probe = probeOf('replica-2');

    await host('replica-2').cutReplication();
    const cut = await report(probe);
    await host('replica-2').restoreReplication();

    expect(cut).toMatchObject({ isReceiving: false, timeline: 1, isTimelineCurrent: false });
    expect(cut.position).toBe(cut.receivedPosition);
    expect(await report(probe)).toMatchObject({ isReceiving: true, isTimelineCurrent: true });
  });

  it('keeps its connection, and tells at once when it is lost', async () => {
    const clients: Client[] = [];
    const lost = new Promise<void>((resolve) => {
      probes.push(probeOf('primary', {}, { clients, onLost: resolve }));
    });
    const probe = probes[0];
    if (probe === undefined) throw new Error('There is no probe.');

    const first = await probe.run(timeoutMillis);
    const second = await probe.run(timeoutMillis);
    const pid = Reflect.get(clients[0] ?? {}, 'processID') as number;
    await cluster().primary.query('select pg_terminate_backend($1)', [pid]);
    await lost;
    const third = await probe.run(timeoutMillis);

    expect([first, second, third]).toMatchObject([
      { isGood: true, isNewConnection: true },
      { isGood: true, isNewConnection: false },
      { isGood: true, isNewConnection: true },
    ]);
    expect(clients).toHaveLength(2);
  });

  it('fails in its time where nothing answers, and leaves no connection', async () => {
    const clients: Client[] = [];
    const [kept, fresh] = [
      probeOf('replica-2', {}, { clients }),
      probeOf('replica-2', {}, { clients }),
    ];
    await report(kept);

    host('replica-2').hang();
    const startedAt = performance.now();
    const outcomes = await Promise.all([kept.run(300), fresh.run(300)]);
    const millis = performance.now() - startedAt;
    await until('every socket is closed', timeoutMillis, () => clients.every(isClosed));
    host('replica-2').wake();

    const late = { isGood: false, isTimeout: true };
    expect(outcomes).toMatchObject([late, late]);
    expect(millis).toBeGreaterThan(290);
    expect(millis).toBeLessThan(1000);
    expect(clients).toHaveLength(2);
    expect(await kept.run(timeoutMillis)).toMatchObject({ isGood: true, isNewConnection: true });
  });

  it.each([220, 500])(
    'says nothing against a server while its own process stands still for %i ms',
    async (millis) => {
      const [kept, fresh] = [probeOf('replica-2'), probeOf('replica-2')];
      await report(kept);

      const running = Promise.all([kept.run(200), fresh.run(200)]);
      // Lets both be sent.
      await turn();
      standStill(millis);

      expect(await running).toMatchObject([{ isGood: true }, { isGood: true }]);
    },
  );

  it('asks more over the connection that it has', async () => {
    const probe = probeOf('primary');
    const text = 'select pid = $1 as "isMe" from pg_catalog.pg_stat_activity where pid = $1';
    const unopened = await probe.ask(text, [0], timeoutMillis);
    const clients: Client[] = [];
    const opened = probeOf('primary', {}, { clients });
    await opened.run(timeoutMillis);

    const pid: unknown = Reflect.get(clients[0] ?? {}, 'processID');
    const found = await opened.ask<{ isMe: boolean }>(text, [pid], timeoutMillis);
    const wrong = await opened.ask('select nothing', [], timeoutMillis);
    const slow = await opened.ask('select pg_catalog.pg_sleep(10)', [], 100);

    expect([unopened, found, wrong, slow]).toEqual([
      undefined,
      [{ isMe: true }],
      undefined,
      undefined,
    ]);
    await until('the socket is closed', timeoutMillis, () => clients.every(isClosed));
  });

  it.each([
    ['idle', 'await probe.run(5_000);'],
    ['hung as it dials', 'void probe.run(500);'],
  ])('keeps no process alive while it is %s', async (state, act) => {
    const { connection } = host('replica-2');
    if (state !== 'idle') host('replica-2').hang();

    const { exitCode, stderr } = await runProgram(`
      const { Probe } = require(${JSON.stringify(join(root, 'lib/monitor/probe.ts'))});
      const { systemClock } = require(${JSON.stringify(join(root, 'lib/clock.ts'))});
      const { dialProbe } = require(${JSON.stringify(join(root, 'test/support/dial-probe.ts'))});
      const probe = new Probe(dialProbe(${JSON.stringify(connection)}), systemClock);
      ${act}
    `);
    host('replica-2').wake();

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });

  it('tells a server that was killed and started again from the one before', async () => {
    const probe = probeOf('replica-2');
    const before = await report(probe);

    await host('replica-2').kill();
    const dead = await probe.run(timeoutMillis);
    await host('replica-2').start();
    const after = await report(probe);

    expect(dead).toMatchObject({
      isGood: false,
      isTimeout: false,
      error: { code: 'ECONNREFUSED' },
    });
    expect(after).toMatchObject({ isInRecovery: true, systemId: before.systemId });
    expect(after.server).not.toBe(before.server);
  });

  it('knows the timeline at once after a promotion, and that of those who follow', async () => {
    const [promoted, other] = [probeOf('replica-1'), probeOf('replica-2')];
    const before = await report(promoted);
    const follower = await report(other);

    await host('replica-1').promote();
    const after = await report(promoted);
    const left = await report(other);
    await host('replica-2').rejoin();
    await host('replica-2').waitForReplay();
    const rejoined = await report(other);

    expect(before).toMatchObject({ isInRecovery: true, timeline: 1, isTimelineCurrent: true });
    expect(after).toMatchObject({
      isInRecovery: false,
      timeline: 2,
      isTimelineCurrent: true,
      receivedPosition: undefined,
      replayAgeMillis: undefined,
      isReplayPaused: undefined,
      isReceiving: false,
      server: before.server,
    });
    expect(after.position).toBeGreaterThan(before.position ?? 0n);
    expect([follower.timeline, left.timeline, rejoined.timeline]).toEqual([1, 1, 2]);
    expect(rejoined.isTimelineCurrent).toBe(true);
  });
});

function standStill(millis: number): void {
  const until = performance.now() + millis;
  while (performance.now() < until);
}

function isClosed(client: Client): boolean {
  const { stream } = Reflect.get(client, 'connection') as { stream: { destroyed: boolean } };
  return stream.destroyed;
}

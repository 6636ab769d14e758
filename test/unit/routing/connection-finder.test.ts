import { describe, expect, it } from '@jest/globals';
import { RoundRobinBalancer } from '../../../lib/balancers/round-robin.ts';
import type { Cluster } from '../../../lib/hosts/cluster.ts';
import type { Connection } from '../../../lib/hosts/host.ts';
import { listenToServer, serverFacts } from '../../../lib/hosts/server-facts.ts';
import { ConnectionFinder } from '../../../lib/routing/connection-finder.ts';
import type { RouteRequest } from '../../../lib/routing/route.ts';
import type { RoutingPolicy } from '../../../lib/routing/router.ts';
import { SessionStates } from '../../../lib/state/session-states.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { pass, settle } from '../../support/fake-servers.ts';
import { Positions } from '../../../lib/consistency/positions.ts';
import type { NeedParts } from '../../../lib/routing/need.ts';
import { makeNeed } from '../../support/need.ts';
import type { HostSketch } from '../../support/hosts.ts';
import {
  answerProbe,
  hostOf,
  makeCluster,
  makeUnseenCluster,
  reportOf,
  takeDown,
  tellRoles,
} from '../../support/hosts.ts';

const read: RouteRequest = { intent: 'read', proved: true, reason: 'only reads' };
const write: RouteRequest = { intent: 'write', proved: true, reason: 'is an insert' };

const refused = Object.assign(new Error('connect ECONNREFUSED'), {
  code: 'ECONNREFUSED',
  syscall: 'connect',
});

interface Bench {
  readonly clock: FakeClock;
  readonly cluster: Cluster;
  /** Asks for a connection; `now` is the name of its host, what the error says, or `waits`. */
  readonly find: (
    request: RouteRequest,
    budgetMillis?: number,
  ) => { readonly now: () => Promise<string> };
}

function bench(
  make: typeof makeCluster,
  sketches: Readonly<Record<string, HostSketch>>,
  policy: Partial<RoutingPolicy> = {},
): Bench {
  const clock = new FakeClock();
  const cluster = make(sketches, { clock });
  const finder = new ConnectionFinder({
    cluster,
    balancer: new RoundRobinBalancer(() => 0),
    policy: { target: 'split', fallback: 'primary', fallbackShare: 0.5, ...policy },
    clock,
    failoverMillis: 10_000,
    states: new SessionStates(),
  });
  const find = (request: RouteRequest, budgetMillis = 60_000): { now: () => Promise<string> } => {
    let outcome = 'waits';
    finder.find(request, budgetMillis).then(
      ({ host }) => (outcome = host.name),
      (error: unknown) => (outcome = String(error)),
    );
    const now = async (): Promise<string> => {
      await settle();
      return outcome;
    };
    return { now };
  };
  return { clock, cluster, find };
}

describe('ConnectionFinder', () => {
  it('waits for the first probes', async () => {
    const { cluster, find } = bench(makeUnseenCluster, { a: {}, b: {} });
    const [reading, writing] = [find(read), find(write)];
    expect(await reading.now()).toBe('waits');

    answerProbe(cluster, 'b', reportOf('replica'));
    expect([await reading.now(), await writing.now()]).toEqual(['b', 'waits']);
    answerProbe(cluster, 'a', reportOf('primary'));

    expect(await writing.now()).toBe('a');
  });

  it('gives a write to no primary before every host was looked at: another may be right', async () => {
    const { cluster, find } = bench(makeUnseenCluster, { a: {}, b: {} });
    answerProbe(cluster, 'a', reportOf('primary'));
    const writing = find(write);
    expect(await writing.now()).toBe('waits');

    answerProbe(cluster, 'b', reportOf('primary', { timeline: 2, systemId: '7' }));

    expect(await writing.now()).toBe('b');
  });

  it('falls back to the primary once it is known that no replica serves', async () => {
    const { cluster, find } = bench(makeUnseenCluster, { a: {}, b: {} });
    const reading = find(read);
    answerProbe(cluster, 'a', reportOf('primary'));
    expect(await reading.now()).toBe('waits');

    takeDown(cluster, 'b');

    expect(await reading.now()).toBe('a');
  });

  it('waits for the first probes no longer than a query may', async () => {
    const { clock, find } = bench(makeUnseenCluster, { a: {}, b: {} });
    const reading = find(read, 700);
    await reading.now();

    clock.advance(699);
    expect(await reading.now()).toBe('waits');
    clock.advance(1);

    expect(await reading.now()).toMatch(/No host can serve this read: a was not probed yet/);
    expect(clock.pending).toBe(0);
  });

  it.each([
    ['a write', write],
    ['a read that falls back', read],
  ])('waits with %s for a new primary', async (_, request) => {
    const { cluster, find } = bench(makeCluster, { a: {}, b: {} });
    takeDown(cluster, 'a');
    cluster.setDraining(hostOf(cluster, 'b'), request === read);
    const waiting = find(request);
    expect(await waiting.now()).toBe('waits');

    cluster.setDraining(hostOf(cluster, 'b'), false);
    answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }));

    expect(await waiting.now()).toBe('b');
  });

  it('waits for a new primary as long as it may, and then tells of each host', async () => {
    const { clock, cluster, find } = bench(makeCluster, { a: {}, b: {} });
    takeDown(cluster, 'a', refused);
    const writing = find(write);
    await writing.now();

    clock.advance(9999);
    expect(await writing.now()).toBe('waits');
    clock.advance(1);

    expect(await writing.now()).toMatch(/this write: a .*ECONNREFUSED.*, b is a replica/);
    expect(clock.pending).toBe(0);
  });

  it('counts the wait for a primary from when it began, whatever changes meanwhile', async () => {
    const { clock, cluster, find } = bench(makeCluster, { a: {}, b: {} });
    takeDown(cluster, 'a', refused);
    const writing = find(write);

    for (let i = 0; i < 9; i++) {
      await writing.now();
      clock.advance(1000);
      cluster.publish();
    }
    expect(await writing.now()).toBe('waits');
    clock.advance(1000);

    expect(await writing.now()).toMatch(/No host/);
  });

  it('waits for a primary no longer than the query may', async () => {
    const { clock, cluster, find } = bench(makeCluster, { a: {}, b: {} });
    takeDown(cluster, 'a');
    const writing = find(write, 500);
    await writing.now();

    clock.advance(500);

    expect(await writing.now()).toMatch(/No host/);
  });

  it('does not wait for a primary that was taken out of use by hand', async () => {
    const { cluster, find } = bench(makeCluster, { a: {}, b: {} });
    cluster.setDraining(hostOf(cluster, 'a'), true);

    expect(await find(write).now()).toMatch(/this write: a is draining, b is a replica/);
  });

  it.each<[string, Partial<RoutingPolicy>, RouteRequest]>([
    ['the target replica', { target: 'replica' }, read],
    ['no fallback', { fallback: 'error' }, read],
    ['a scope of replicas', {}, { ...read, scope: 'replica' }],
  ])(
    'fails at once under %s when it is known that no replica serves',
    async (_, policy, request) => {
      const { cluster, find } = bench(makeCluster, { a: {}, b: {} }, policy);
      takeDown(cluster, 'b', refused);

      expect(await find(request).now()).toMatch(/No host can serve this read: .*ECONNREFUSED/);
    },
  );

  it('waits under a strict target for a replica that a probe is to judge', async () => {
    const { cluster, find } = bench(makeCluster, { a: {}, b: {} }, { target: 'replica' });
    const ailment = { trouble: 'refused', reason: 'gone' } as const;
    cluster.noteTrouble(hostOf(cluster, 'b'), ailment, refused);
    const reading = find(read);
    expect(await reading.now()).toBe('waits');

    answerProbe(cluster, 'b', reportOf('replica'));

    expect(await reading.now()).toBe('b');
  });

  it('goes on with another host when one refuses, and tells of it', async () => {
    const refuse = { create: () => Promise.reject(refused) };
    const { cluster, find } = bench(makeCluster, { a: {}, b: refuse });

    expect(await find(read).now()).toBe('a');
    expect(hostOf(cluster, 'b').health.state).toBe('suspect');
  });

  it.each([
    ['53300', 'sorry, too many clients already'],
    ['57P03', 'the database system is starting up'],
    ['57P03', 'the database system is shutting down'],
    ['08P01', 'server conn crashed?'],
  ])('waits for a primary that says %s, and no longer than for any', async (code, message) => {
    const passing = Object.assign(new Error(message), { code, severity: 'FATAL' });
    let isReady = false;
    let dials = 0;
    const create = async (): Promise<Connection> => {
      dials++;
      if (!isReady) throw passing;
      return {};
    };
    const { clock, cluster, find } = bench(makeCluster, { a: { create }, b: {} });
    const pass = async (seconds: number): Promise<void> => {
      for (let i = 0; i < seconds; i++) {
        clock.advance(1000);
        answerProbe(cluster, 'a', reportOf('primary'));
        // oxlint-disable-next-line no-await-in-loop -- one second after the other.
        await settle();
      }
    };

    const first = find(write);
    await first.now();
    await pass(3);
    expect(await first.now()).toBe('waits');
    isReady = true;
    await pass(2);
    expect(await first.now()).toBe('a');
    expect(dials).toBeLessThan(8);

    isReady = false;
    hostOf(cluster, 'a').pool.renew();
    const second = find(write);
    await second.now();
    await pass(12);
    expect(await second.now()).toBe(`Error: ${message}`);
  });

  it('waits for a primary that has just refused, and asks it again once it is found well', async () => {
    let isRefusing = true;
    const create = async (): Promise<Connection> => {
      if (isRefusing) throw refused;
      return {};
    };
    const { cluster, find } = bench(makeCluster, { a: { create }, b: {} });
    const writing = find(write);
    expect(await writing.now()).toBe('waits');

    isRefusing = false;
    tellRoles(cluster, 'a');

    expect(await writing.now()).toBe('a');
  });

  it('gives a write no connection to a replica behind the name of the primary', async () => {
    const isReplica = [true, false];
    const create = async (): Promise<Connection> => {
      const connection = {};
      listenToServer(connection, () => undefined);
      const role = isReplica.shift() === true ? 'replica' : 'primary';
      Object.assign(serverFacts(connection) ?? {}, { role });
      return connection;
    };
    const { cluster, find } = bench(makeCluster, { a: { create }, b: {} });
    const doubted: string[] = [];
    cluster.onDoubt = ({ name }, hasMoved) => doubted.push(`${name} ${hasMoved}`);
    const writing = find(write);
    expect(await writing.now()).toBe('waits');
    expect(doubted).toEqual(['a true']);
    expect(hostOf(cluster, 'a').pool.stats).toMatchObject({ used: 0, free: 0 });

    tellRoles(cluster, 'a');

    expect(await writing.now()).toBe('a');
  });

  it.each<[string, (cluster: Cluster) => void]>([
    ['is fenced', (cluster) => answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }))],
    [
      'goes down, as another is promoted',
      (cluster) => {
        takeDown(cluster, 'a', refused);
        answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }));
      },
    ],
    [
      'has become a replica',
      (cluster) => {
        answerProbe(cluster, 'a', reportOf('replica', { timeline: 2 }));
        answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }));
      },
    ],
  ])('sends those on who waited for a connection of a primary that %s', async (_, change) => {
    const { cluster, find } = bench(makeCluster, { a: { max: 2 }, b: {} });
    const { pool } = hostOf(cluster, 'a');
    const held = await Promise.all([pool.acquire().promise, pool.acquire().promise]);
    const waiting = [find(write), find(write)];
    const outcomes = (): Promise<string[]> => Promise.all(waiting.map(({ now }) => now()));
    expect(await outcomes()).toEqual(['waits', 'waits']);

    change(cluster);
    for (const connection of held) pool.release(connection);

    expect(await outcomes()).toEqual(['b', 'b']);
  });

  it('takes no connection of a primary that refuses others, until it is found well', async () => {
    const { cluster, find } = bench(makeCluster, { a: { max: 1 }, b: {} });
    const { pool } = hostOf(cluster, 'a');
    const held = await pool.acquire().promise;
    const writing = find(write);
    await writing.now();

    cluster.noteTrouble(hostOf(cluster, 'a'), { trouble: 'refused', reason: 'gone' }, refused);
    pool.release(held);
    expect(await writing.now()).toBe('waits');
    expect(pool.stats).toMatchObject({ used: 0, free: 1 });
    answerProbe(cluster, 'a', reportOf('primary'));

    expect(await writing.now()).toBe('a');
  });

  it('takes no connection of a replica that follows an old primary by now', async () => {
    const { cluster, find } = bench(makeCluster, { a: {}, b: { max: 1 } });
    const { pool } = hostOf(cluster, 'b');
    const held = await pool.acquire().promise;
    const reading = find(read);
    expect(await reading.now()).toBe('waits');

    answerProbe(cluster, 'a', reportOf('primary', { timeline: 2 }));
    pool.release(held);

    expect(await reading.now()).toBe('a');
    expect(pool.stats).toMatchObject({ used: 0, free: 1 });
  });

  it.each([
    ['a write', 'a', write],
    ['a read', 'b', read],
  ])('serves %s that waited for a host that is drained by hand', async (_, name, request) => {
    const { cluster, find } = bench(makeCluster, { a: { max: 1 }, b: { max: 1 } });
    const host = hostOf(cluster, name);
    const held = await host.pool.acquire().promise;
    const waiting = find(request);
    await waiting.now();

    cluster.setDraining(host, true);
    host.pool.release(held);

    expect(await waiting.now()).toBe(name);
  });

  it('looks again for who met another server behind the name, though the probe finds all as before', async () => {
    const servers = ['other', 'one'];
    const create = async (): Promise<Connection> => {
      const connection = {};
      listenToServer(connection, () => undefined);
      Object.assign(serverFacts(connection) ?? {}, { role: 'primary', server: servers.shift() });
      return connection;
    };
    const { cluster, find } = bench(makeUnseenCluster, { a: { create }, b: {} });
    const tell = (): void => tellRoles(cluster, 'a', { server: 'one' });
    tell();
    const writing = find(write);
    expect(await writing.now()).toBe('waits');

    tell();

    expect(await writing.now()).toBe('a');
  });

  it('waits for a primary without a connection left no longer than for any, though it rests', async () => {
    const full = Object.assign(new Error('too many clients'), { code: '53300', severity: 'FATAL' });
    const { clock, cluster, find } = bench(makeCluster, { a: {}, b: {} });
    const { gate } = hostOf(cluster, 'a').pool;
    gate.rest(full);
    const waiting = Array.from({ length: 20 }, () => find(write));
    const outcomes = (): Promise<string[]> => Promise.all(waiting.map(({ now }) => now()));
    // Its gate never opens: whenever it might, the server has refused again.
    const rest = async (halfSeconds: number): Promise<void> => {
      for (let i = 0; i < halfSeconds; i++) {
        gate.rest(full);
        // oxlint-disable-next-line no-await-in-loop -- one after the other.
        await settle();
        clock.advance(500);
      }
    };
    await rest(19);
    expect(new Set(await outcomes())).toEqual(new Set(['waits']));
    await rest(3);

    expect(new Set(await outcomes())).toEqual(new Set(['Error: too many clients']));
  });
});

describe('ConnectionFinder, for a read that has to see what its session wrote', () => {
  /** A replica that lacks it until `catchUp` is called; probes tell nothing of it. */
  function behind(
    told: (now: number) => Partial<NeedParts>,
    policy: Partial<RoutingPolicy> = {},
  ): Bench & { readonly request: RouteRequest; readonly catchUp: () => void } {
    const made = bench(makeCluster, { a: {}, b: {} }, policy);
    const { clock, cluster } = made;
    tellRoles(cluster, 'a', { timeline: 2 });
    answerProbe(cluster, 'b', reportOf('replica', { server: 'b', timeline: 2 }));
    const positions = new Positions();
    positions.note('b', 1, 1n);
    const mark = { timeline: 2, lsn: 100n };
    const need = makeNeed({ clock, positions, mark, ...told(clock.now()) });
    return {
      ...made,
      request: { ...read, need },
      catchUp: () => positions.note('b', 2, 100n),
    };
  }

  it('goes to the primary at once where it may not wait', async () => {
    const { find, request } = behind(() => ({}));

    expect(await find(request).now()).toBe('a');
  });

  it('waits for a replica to catch up, and looks often', async () => {
    const { clock, find, request, catchUp } = behind((now) => ({ waitUntil: now + 500 }));
    const reading = find(request);
    await pass(clock, 300);
    expect(await reading.now()).toBe('waits');

    catchUp();
    await pass(clock, 10);

    expect(await reading.now()).toBe('b');
    expect(clock.pending).toBe(0);
  });

  it.each([
    ['when its time is over', 500],
    ['when a failover would be given up, and it may wait as long', 10_000],
    ['when it may wait longer than for a failover', 20_000],
  ])('goes to the primary %s', async (_, waitMillis) => {
    const { clock, find, request } = behind((now) => ({
      waitUntil: now + waitMillis,
      giveUpAt: now + Math.max(10_000, waitMillis),
    }));
    const reading = find(request);
    await pass(clock, waitMillis - 50);
    expect(await reading.now()).toBe('waits');

    await pass(clock, 60);

    expect(await reading.now()).toBe('a');
  });

  // The budget is over when the wait is, and nothing is left to ask the primary with.
  it('goes to the primary when it may wait no longer for a connection', async () => {
    const { clock, find, request } = behind((now) => ({ waitUntil: now + 20_000 }));
    const reading = find(request, 500);

    await pass(clock, 510);

    expect(await reading.now()).toBe('a');
  });

  // Less than a millisecond is left to wait, and the last look comes before it.
  it('goes to the primary where a timer comes a little early at the end of its time', async () => {
    const { clock, find, request } = behind((now) => ({
      waitUntil: now + 500,
      giveUpAt: now + 500,
    }));
    clock.advance(499.5);
    const reading = find(request);
    await reading.now();

    await pass(clock, 10);

    expect(await reading.now()).toBe('a');
  });

  it('says that all replicas are behind where the primary must not serve it', async () => {
    const { clock, find, request } = behind(() => ({}), { fallback: 'error' });
    const reading = find(request);
    await pass(clock, 9900, 100);
    expect(await reading.now()).toBe('waits');

    await pass(clock, 100);

    expect(await reading.now()).toMatch(
      /StaleReplicasError: No replica .* of b, none has replayed 0\/64 on timeline 2/,
    );
    expect(clock.pending).toBe(0);
  });

  it('is served by a replica that catches up, where the primary must not serve it', async () => {
    const { clock, find, request, catchUp } = behind(() => ({}), { fallback: 'error' });
    const reading = find(request);
    await pass(clock, 5000, 100);

    catchUp();
    await pass(clock, 10);

    expect(await reading.now()).toBe('b');
  });

  it('waits for a new primary while no replica has it', async () => {
    const { clock, cluster, find, request } = behind(() => ({}));
    takeDown(cluster, 'a');
    const reading = find(request);
    await pass(clock, 1000, 100);
    expect(await reading.now()).toBe('waits');

    answerProbe(cluster, 'a', reportOf('primary', { timeline: 2 }));
    answerProbe(cluster, 'a', reportOf('primary', { timeline: 2 }));
    await pass(clock, 20);

    expect(await reading.now()).toBe('a');
  });

  it('takes no connection of a replica behind the name of the primary', async () => {
    const roles = ['replica', 'primary'];
    const create = async (): Promise<Connection> => {
      const connection = {};
      listenToServer(connection, () => undefined);
      Object.assign(serverFacts(connection) ?? {}, { role: roles.shift() });
      return connection;
    };
    const { cluster, find } = bench(makeCluster, { a: { create } });
    const reading = find({ ...read, need: makeNeed() });
    expect(await reading.now()).toBe('waits');

    tellRoles(cluster, 'a');

    expect(await reading.now()).toBe('a');
  });
});

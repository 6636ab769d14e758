import { describe, expect, it } from '@jest/globals';
import type { RWSplitEvents } from '../../../lib/events.ts';
import { RWSplitEmitter } from '../../../lib/events.ts';
import { Cluster } from '../../../lib/hosts/cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import {
  answerProbe,
  healthSettings,
  makeHost,
  hostOf,
  hostSettings,
  makeCluster,
  makeUnseenCluster,
  names,
  reportOf,
  takeDown,
  tellRoles,
} from '../../support/hosts.ts';

function roles({ routable }: Cluster): { primary: readonly string[]; replicas: readonly string[] } {
  return { primary: names(routable.primary), replicas: names(routable.replicas) };
}

/** Collects events as `name host`. */
function listen(...events: (keyof RWSplitEvents & `host:${string}`)[]): {
  readonly events: RWSplitEmitter;
  readonly told: string[];
} {
  const emitter = new RWSplitEmitter();
  const told: string[] = [];
  for (const event of events) {
    emitter.on(event, (about: { readonly host: string }) => told.push(`${event} ${about.host}`));
  }
  return { events: emitter, told };
}

const silent = { trouble: 'silent', reason: 'no answer' } as const;
const refused = { trouble: 'refused', reason: 'connect ECONNREFUSED' } as const;

describe('Cluster', () => {
  it('has nobody serve before a server answered', () => {
    expect(roles(makeUnseenCluster({ a: {}, b: {} }))).toEqual({ primary: [], replicas: [] });
  });

  it('lets a host that is alone serve at once', () => {
    const cluster = makeUnseenCluster({ a: {} }, { primaryReads: true });

    expect(roles(cluster).primary).toEqual(['a']);
    expect(names(cluster.routable.readers)).toEqual(['a']);
    expect(cluster.isSettled).toBe(true);
  });

  it('lets a host that is alone serve while it has no connection left for a probe', () => {
    const cluster = makeUnseenCluster({ a: {} }, { primaryReads: true });

    answerProbe(cluster, 'a', undefined);

    expect(roles(cluster).primary).toEqual(['a']);
    expect(names(cluster.routable.readers)).toEqual(['a']);
  });

  it('has the roles that the servers tell, whatever the configuration says', () => {
    const cluster = makeCluster({ a: {}, b: {} });

    tellRoles(cluster, 'b', { timeline: 2 });

    expect(roles(cluster)).toEqual({ primary: ['b'], replicas: ['a'] });
  });

  it('keeps a second primary out of everything', () => {
    const cluster = makeCluster({ a: {}, b: {} });

    answerProbe(cluster, 'b', reportOf('primary'));

    expect(roles(cluster)).toEqual({ primary: ['a'], replicas: [] });
  });

  it('gives writes to nobody while only an old primary is left', () => {
    const { events, told } = listen('host:fenced');
    const cluster = makeCluster({ a: {}, b: {} }, { events });
    takeDown(cluster, 'a');
    answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }));
    takeDown(cluster, 'b');

    answerProbe(cluster, 'a', reportOf('primary', { timeline: 1 }));
    answerProbe(cluster, 'a', reportOf('primary', { timeline: 1 }));

    expect(roles(cluster)).toEqual({ primary: [], replicas: [] });
    expect(cluster.elected).toBeUndefined();
    expect(told).toEqual(['host:fenced a']);
  });

  it('tells of an old primary that was suspect when another was promoted', () => {
    const { events, told } = listen('host:fenced');
    const cluster = makeCluster({ a: {}, b: {} }, { events });
    cluster.noteTrouble(hostOf(cluster, 'a'), refused, new Error('refused'));

    answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }));
    expect(told).toEqual([]);
    answerProbe(cluster, 'a', reportOf('primary'));
    answerProbe(cluster, 'a', reportOf('primary'));

    expect(told).toEqual(['host:fenced a']);
  });

  it('tells of a role that differs from what was believed', () => {
    const { events, told } = listen('host:role');
    const cluster = makeUnseenCluster({ a: {}, b: {} }, { events });

    answerProbe(cluster, 'a', reportOf('primary'));
    expect(told).toEqual([]);
    answerProbe(cluster, 'b', reportOf('primary'));

    expect(told).toEqual(['host:role b']);
  });

  it('tells of a host that was suspect before it was ever up', () => {
    const { events, told } = listen('host:up', 'host:down');
    const cluster = makeUnseenCluster({ a: {}, b: {} }, { events });

    cluster.noteFailedProbe(hostOf(cluster, 'b'), silent, new Error('late'));
    answerProbe(cluster, 'b', reportOf('replica'));

    expect(told).toEqual(['host:up b']);
  });

  it('tells when a host comes and goes, and not when it is only suspect', () => {
    const { events, told } = listen('host:up', 'host:down');
    const cluster = makeUnseenCluster({ a: {}, b: {} }, { events });
    const b = hostOf(cluster, 'b');

    tellRoles(cluster, 'a');
    cluster.noteFailedProbe(b, silent, new Error('late'));
    answerProbe(cluster, 'b', reportOf('replica'));
    takeDown(cluster, 'b');
    answerProbe(cluster, 'b', reportOf('replica'));
    takeDown(cluster, 'b');
    answerProbe(cluster, 'b', reportOf('replica'));
    answerProbe(cluster, 'b', reportOf('replica'));

    expect(told).toEqual(['host:up a', 'host:up b', 'host:down b', 'host:up b']);
  });

  it('is settled once there was time to look at every host, and stays so', () => {
    const cluster = makeUnseenCluster({ a: {}, b: {} });

    answerProbe(cluster, 'a', reportOf('primary'));
    expect(cluster.isSettled).toBe(false);
    cluster.noteFailedProbe(hostOf(cluster, 'b'), refused, new Error('gone'));
    expect(cluster.isSettled).toBe(true);
    cluster.add([hostSettings('c')]);
    expect(cluster.isSettled).toBe(true);
  });

  it('is not settled before its replicas were told, or it goes on without them', () => {
    const clusterOf = (): Cluster => {
      const { events } = listen();
      const clock = new FakeClock();
      return new Cluster({
        primary: hostSettings('a'),
        replicas: undefined,
        primaryReads: false,
        hasRoles: true,
        maxLag: false,
        health: healthSettings,
        events,
        clock,
        make: (settings, role) => makeHost(settings, role, {}, clock),
      });
    };
    const [told, without] = [clusterOf(), clusterOf()];
    for (const cluster of [told, without]) answerProbe(cluster, 'a', reportOf('primary'));
    expect([told.isSettled, without.isSettled]).toEqual([false, false]);

    told.add([hostSettings('b')]);
    without.goOn();

    expect([told.isSettled, without.isSettled]).toEqual([false, true]);
    answerProbe(told, 'b', reportOf('replica'));
    expect(told.isSettled).toBe(true);
  });

  it('takes a refused connection for a reason to stop sending, and to probe at once', () => {
    const cluster = makeCluster({ a: {}, b: {} });
    const doubted: string[] = [];
    cluster.onDoubt = ({ name }) => doubted.push(name);
    const b = hostOf(cluster, 'b');

    cluster.noteTrouble(b, refused, new Error('gone'));
    cluster.noteTrouble(b, refused, new Error('gone'));

    expect(roles(cluster).replicas).toEqual([]);
    expect(doubted).toEqual(['b']);
  });

  it('goes on with a primary that missed a probe, and with no other failure', () => {
    const cluster = makeCluster({ a: {}, b: {} });
    const a = hostOf(cluster, 'a');

    cluster.noteFailedProbe(a, silent, new Error('late'));
    expect(roles(cluster).primary).toEqual(['a']);
    cluster.noteFailedProbe(a, refused, new Error('gone'));
    expect(roles(cluster).primary).toEqual([]);
  });

  it('ends what runs on an old primary, whose commits would be lost', async () => {
    const ends: unknown[] = [];
    // A socket is destroyed once.
    const stream = { destroy: (error: Error) => (ends.length === 0 ? ends.push(error) : 0) };
    const cluster = makeCluster({ a: { create: async () => ({ connection: { stream } }) }, b: {} });
    await hostOf(cluster, 'a').pool.acquire().promise;

    answerProbe(cluster, 'b', reportOf('primary', { timeline: 2 }));

    expect(ends).toMatchObject([
      { code: 'ECONNABORTED', message: expect.stringMatching(/^a is an old primary/) },
    ]);
  });

  it('leaves a draining host out of everything', () => {
    const cluster = makeCluster({ a: {}, b: {}, c: {} });
    const drain = (name: string, isDraining: boolean): void =>
      cluster.setDraining(hostOf(cluster, name), isDraining);

    drain('b', true);
    expect(roles(cluster)).toEqual({ primary: ['a'], replicas: ['c'] });
    drain('a', true);
    expect(roles(cluster).primary).toEqual([]);
    drain('b', false);
    expect(names(cluster.routable.usable)).toEqual(['b', 'c']);
  });

  it('ranks the replicas, whichever of its hosts turned out to be one', () => {
    const cluster = makeCluster({ a: {}, b: {}, c: {} });
    tellRoles(cluster, 'b', { timeline: 2 });

    const places = cluster.hosts.map(({ name, order }) => [name, order]);

    expect(places).toEqual([
      ['a', 0],
      ['b', Number.MAX_SAFE_INTEGER],
      ['c', 1],
    ]);
  });

  it("weighs the primary by its role, and a replica by its host's own weight", () => {
    const sketch = { weight: 3, primaryReads: 0.5 };
    const cluster = makeCluster({ a: sketch, b: sketch }, { primaryReads: true });
    const weights = (): readonly number[] => cluster.hosts.map(({ weight }) => weight);

    expect(weights()).toEqual([0.5, 3]);
    tellRoles(cluster, 'b', { timeline: 2 });
    expect(weights()).toEqual([3, 0.5]);
  });

  it('lets the share of a host that came back grow', () => {
    const clock = new FakeClock();
    const cluster = makeCluster({ a: {}, b: {} }, { clock });
    const b = hostOf(cluster, 'b');
    takeDown(cluster, 'b');
    answerProbe(cluster, 'b', reportOf('replica'));
    answerProbe(cluster, 'b', reportOf('replica'));

    const weights = [0, 4000, 6000].map((millis) => {
      clock.advance(millis);
      return b.weight;
    });

    expect(weights).toEqual([0.1, 0.4, 1]);
  });

  it('takes in replicas that become known later, once they were found well', () => {
    const cluster = makeCluster({ a: {} });

    cluster.add([hostSettings('b')]);

    expect(roles(cluster).replicas).toEqual([]);
    answerProbe(cluster, 'b', reportOf('replica'));
    expect(roles(cluster).replicas).toEqual(['b']);
  });

  it('leaves out a host that was removed', () => {
    const cluster = makeCluster({ a: {}, b: {} });

    cluster.remove(hostOf(cluster, 'b'));

    expect(names(cluster.hosts)).toEqual(['a']);
    expect(roles(cluster).replicas).toEqual([]);
  });

  it('gives the pool of a promoted replica the size of the primary, and back', () => {
    const cluster = makeCluster({ a: { max: 9 }, b: { max: 3 } });
    const sizes = (): readonly number[] => cluster.hosts.map(({ pool }) => pool.maximum);
    expect(sizes()).toEqual([9, 3]);

    tellRoles(cluster, 'b', { timeline: 2 });
    expect(sizes()).toEqual([9, 9]);
    tellRoles(cluster, 'a', { timeline: 3 });
    expect(sizes()).toEqual([9, 3]);
  });

  it('gives nobody a connection of the time before a change of roles', async () => {
    const cluster = makeCluster({ a: {}, b: {} });
    const { pool } = hostOf(cluster, 'b');
    const [used, idle] = [await pool.acquire().promise, await pool.acquire().promise];
    pool.release(idle);

    tellRoles(cluster, 'b', { timeline: 2 });
    pool.release(used);

    const later = [await pool.acquire().promise, await pool.acquire().promise];
    expect(later).not.toContain(idle);
    expect(later).not.toContain(used);
  });

  it('gives nobody a connection to another server behind the name of the primary', async () => {
    const cluster = makeUnseenCluster({ a: {}, b: {} });
    tellRoles(cluster, 'a', { server: 'one' });
    const { pool } = hostOf(cluster, 'a');
    const before = await pool.acquire().promise;
    pool.release(before);

    answerProbe(cluster, 'a', reportOf('primary', { server: 'two' }));

    expect(await pool.acquire().promise).not.toBe(before);
  });

  it('ends the waits for a connection of a host that goes down', async () => {
    const cluster = makeCluster({ a: {}, b: { max: 1 } });
    const { pool } = hostOf(cluster, 'b');
    await pool.acquire().promise;
    const waiting = pool.acquire().promise;

    takeDown(cluster, 'b');

    await expect(waiting).rejects.toThrow('aborted');
  });

  it('leaves out a replica that lags until it has caught up by half, and tells', () => {
    const { events, told } = listen('host:lag');
    const cluster = makeCluster(
      { a: {}, b: {} },
      { events, maxLag: { millis: undefined, bytes: 100 } },
    );
    const seen = [900n, 899n, 949n, 950n].map((position) => {
      answerProbe(cluster, 'b', reportOf('replica', { position }));
      return roles(cluster).replicas.length;
    });

    expect(seen).toEqual([1, 0, 0, 1]);
    expect(told).toEqual(['host:lag b', 'host:lag b']);
  });

  it('lets a replica serve whose primary was gone before anybody saw it', () => {
    const cluster = makeUnseenCluster(
      { a: {}, b: {} },
      { maxLag: { millis: 1000, bytes: undefined } },
    );
    const report = reportOf('replica', { isReceiving: false, replayAgeMillis: 9e6 });

    answerProbe(cluster, 'b', report);
    const before = roles(cluster).replicas;
    cluster.noteFailedProbe(hostOf(cluster, 'a'), refused, new Error(refused.reason));

    expect(before).toEqual([]);
    expect(roles(cluster).replicas).toEqual(['b']);
    answerProbe(cluster, 'b', report);
    expect(roles(cluster).replicas).toEqual(['b']);
  });

  it('keeps how far a replica is known to be where the answer to a probe comes late', () => {
    const cluster = makeCluster({ a: {}, b: {} });
    const server = 'one';

    answerProbe(cluster, 'b', reportOf('replica', { server, position: 2000n }));
    answerProbe(cluster, 'b', reportOf('replica', { server, position: 1500n }));

    expect(cluster.positions.hasReached(server, { timeline: 1, lsn: 2000n })).toBe(true);
  });

  it('asks no lag of a replica that was promoted', () => {
    const cluster = makeCluster({ a: {}, b: {} }, { maxLag: { millis: undefined, bytes: 100 } });
    answerProbe(cluster, 'b', reportOf('replica', { position: 1n }));
    expect(hostOf(cluster, 'b').lagProblem).toBeDefined();

    answerProbe(cluster, 'b', reportOf('primary', { position: 1n, timeline: 2 }));

    expect(hostOf(cluster, 'b')).toMatchObject({ lag: undefined, lagProblem: undefined });
    expect(roles(cluster).primary).toEqual(['b']);
  });

  it('has changed nothing where a probe finds all as it was', () => {
    const cluster = makeCluster({ a: {}, b: {} });
    const { count } = cluster.changes;
    let changes = 0;
    cluster.onChange = () => changes++;

    answerProbe(cluster, 'a', reportOf('primary', { position: 2000n }));
    answerProbe(cluster, 'b', reportOf('replica', { position: 2000n }));

    expect([changes, cluster.changes.count]).toEqual([0, count]);
  });

  it('lets those who doubt a host look again after the probe, whatever that finds', () => {
    const cluster = makeCluster({ a: {}, b: {} });
    const { count } = cluster.changes;
    cluster.doubt(hostOf(cluster, 'a'), true);
    expect(cluster.changes.count).toBe(count);

    answerProbe(cluster, 'a', reportOf('primary'));
    answerProbe(cluster, 'a', reportOf('primary'));

    expect(cluster.changes.count).toBe(count + 1);
  });

  it('excludes nobody for a role where roles do not count', () => {
    const { events, told } = listen('host:fenced', 'host:excluded');
    const cluster = makeUnseenCluster({ a: {}, b: {} }, { events, hasRoles: false });

    tellRoles(cluster, 'a', { timeline: 2 });
    answerProbe(cluster, 'b', reportOf('primary', { timeline: 1, systemId: '8' }));

    expect(names(cluster.routable.usable)).toEqual(['a', 'b']);
    expect(hostOf(cluster, 'b').exclusion).toBeUndefined();
    expect(told).toEqual([]);
  });

  it('has no primary any more once one that refused new connections is gone', () => {
    const cluster = makeCluster({ a: {}, b: {} });
    const a = hostOf(cluster, 'a');
    const wrong = { trouble: 'misconfigured', reason: 'wrong password' } as const;

    cluster.noteFailedProbe(a, wrong, new Error('wrong password'));
    expect(cluster.elected).toBe(a);
    cluster.noteFailedProbe(a, refused, new Error('refused'));

    expect(cluster.elected).toBeUndefined();
  });

  it('keeps what is open on a host that is misconfigured, and ends it on one that is down', async () => {
    const cluster = makeCluster({ a: {}, b: {}, c: {} });
    const ailment = { trouble: 'misconfigured', reason: 'password' } as const;
    const [b, c] = [hostOf(cluster, 'b'), hostOf(cluster, 'c')];
    const idle = [await b.pool.acquire().promise, await c.pool.acquire().promise];
    b.pool.release(idle[0] ?? {});
    c.pool.release(idle[1] ?? {});

    cluster.noteFailedProbe(b, ailment, new Error('password'));
    takeDown(cluster, 'c');

    expect([b.health.state, c.health.state]).toEqual(['down', 'down']);
    expect([b.pool.stats.free, c.pool.stats.free]).toEqual([1, 0]);
    expect([b.report === undefined, c.report === undefined]).toEqual([false, true]);
  });

  it('lets a replica that refuses new connections serve only while its last report counts', () => {
    const clock = new FakeClock();
    const cluster = makeCluster(
      { a: {}, b: {} },
      { clock, maxLag: { millis: 500, bytes: undefined } },
    );
    const b = hostOf(cluster, 'b');
    const wrong = { trouble: 'misconfigured', reason: 'wrong password' } as const;

    cluster.noteFailedProbe(b, wrong, new Error('wrong password'));
    expect(names(cluster.routable.lastReplicas)).toEqual(['b']);
    clock.advance(4 * healthSettings.intervalMillis + healthSettings.timeoutMillis);
    cluster.noteFailedProbe(b, wrong, new Error('wrong password'));

    expect(b.lag).toEqual({ bytes: undefined, millis: undefined });
    expect(cluster.routable.lastReplicas).toEqual([]);
  });
});

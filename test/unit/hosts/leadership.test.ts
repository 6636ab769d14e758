import { describe, expect, it } from '@jest/globals';
import { RWSplitEmitter } from '../../../lib/events.ts';
import type { Connection, Host } from '../../../lib/hosts/host.ts';
import type { Health } from '../../../lib/hosts/health.ts';
import { Leadership } from '../../../lib/hosts/leadership.ts';
import type { ServerReport } from '../../../lib/hosts/server-report.ts';
import { hostSettings, makeHost, reportOf } from '../../support/hosts.ts';

interface Bench {
  readonly a: Host;
  readonly b: Host;
  readonly leadership: Leadership;
  /** Holds an election, and says who won it. */
  readonly hold: () => string | undefined;
  /** Who was excluded, and why. */
  readonly told: string[];
  /** What became of the connections, as `host: message`. */
  readonly ended: string[];
}

const course = { since: 0, setbacks: 0, readmittedAt: undefined };
const up: Health = { state: 'up', ...course };
const down: Health = { state: 'down', trouble: 'refused', reason: 'gone', ...course };

/** A presumed primary `a` and a configured replica `b`, which were never asked. */
function bench({ hasRoles = true } = {}): Bench {
  const ended: string[] = [];
  const told: string[] = [];
  const events = new RWSplitEmitter();
  events.on('host:fenced', ({ host, timeline, clusterTimeline }) =>
    told.push(`${host} fenced on ${timeline} of ${clusterTimeline}`),
  );
  events.on('host:excluded', ({ host, reason }) => told.push(`${host} ${reason}`));

  const make = (name: string, role: 'primary' | 'replica', max: number): Host => {
    const create = async (): Promise<Connection> => {
      const destroy = (error: Error): unknown => ended.push(`${name}: ${error.message}`);
      return { connection: { stream: { destroy } } };
    };
    return makeHost(hostSettings(name), role, { max, create });
  };
  const [a, b] = [make('a', 'primary', 2), make('b', 'replica', 1)];
  const leadership = new Leadership(a, hasRoles, events);
  const hold = (): string | undefined => {
    leadership.hold([a, b]);
    return leadership.elected?.name;
  };
  return { a, b, leadership, hold, told, ended };
}

let probes = 0;

/** Has a host tell that it is a primary, or a replica; its role is as it tells. */
function tell(host: Host, role: 'primary' | 'replica', told: Partial<ServerReport> = {}): void {
  if (role === 'replica') host.wasInRecovery = true;
  const reportedAt = ++probes;
  Object.assign(host, { role, health: up, report: reportOf(role, told), reportedAt });
}

function silence(host: Host): void {
  Object.assign(host, { health: down, report: undefined });
}

describe('Leadership', () => {
  it('begins without a primary', () => {
    expect(bench().hold()).toBeUndefined();
  });

  it('says whether the cluster has moved on to a higher timeline', () => {
    const { a, b, leadership } = bench();
    const moves = [1, 1, 2, 1].map((timeline) => {
      tell(a, 'primary', { timeline });
      tell(b, 'replica', { timeline });
      return leadership.hold([a, b]);
    });

    expect(moves).toEqual([true, false, true, false]);
  });

  it('gives the primary the size of the presumed one, and the last its own', () => {
    const { a, b, hold } = bench();
    tell(a, 'primary');
    tell(b, 'replica');
    hold();
    expect([a.pool.maximum, b.pool.maximum]).toEqual([2, 1]);

    silence(a);
    tell(b, 'primary', { timeline: 2 });

    expect(hold()).toBe('b');
    expect([a.pool.maximum, b.pool.maximum]).toEqual([2, 2]);
    tell(a, 'primary', { timeline: 3 });
    expect(hold()).toBe('a');
    expect([a.pool.maximum, b.pool.maximum]).toEqual([2, 1]);
  });

  it.each<[string, Partial<ServerReport> | undefined]>([
    ['another is elected', { timeline: 2 }],
    ['nobody is', undefined],
  ])('turns those away who wait for the last primary when %s', async (_, promoted) => {
    const { a, b, hold } = bench();
    tell(a, 'primary');
    tell(b, 'replica');
    hold();
    await Promise.all([a.pool.acquire().promise, a.pool.acquire().promise]);
    const waiting = Promise.allSettled([a.pool.acquire().promise]);

    if (promoted === undefined) silence(a);
    else tell(b, 'primary', promoted);
    hold();

    expect(await waiting).toMatchObject([{ reason: { message: 'aborted' } }]);
  });

  it('lets those wait on who wait for the primary that stays', async () => {
    const { a, b, hold } = bench();
    tell(a, 'primary');
    hold();
    const [one] = await Promise.all([a.pool.acquire().promise, a.pool.acquire().promise]);
    const waiting = a.pool.acquire().promise;

    tell(b, 'replica');
    hold();
    a.pool.release(one);

    expect(await waiting).toBe(one);
  });

  it('ends what runs on the last primary once another is elected', async () => {
    const { a, b, hold, ended } = bench();
    tell(a, 'primary');
    tell(b, 'replica');
    hold();
    await Promise.all([a.pool.acquire().promise, a.pool.acquire().promise]);
    silence(a);
    hold();
    expect(ended).toEqual([]);

    tell(b, 'primary', { timeline: 2 });
    hold();

    const message = 'a: a is no primary any more; what still ran on it was ended.';
    expect(ended).toEqual([message, message]);
    hold();
    expect(ended).toHaveLength(2);
  });

  it('lets the reads of a last primary go on that has become a replica', async () => {
    const { a, b, hold, ended } = bench();
    tell(a, 'primary');
    tell(b, 'replica');
    hold();
    await a.pool.acquire().promise;

    tell(a, 'replica', { timeline: 2 });
    tell(b, 'primary', { timeline: 2 });

    expect(hold()).toBe('b');
    expect(ended).toEqual([]);
  });

  it('ends nothing on the primary that went, and came back as such', async () => {
    const { a, hold, ended } = bench();
    tell(a, 'primary');
    hold();
    await a.pool.acquire().promise;

    silence(a);
    hold();
    tell(a, 'primary');

    expect(hold()).toBe('a');
    expect(ended).toEqual([]);
  });

  it('ends what runs on an old primary, and tells of it once it runs', async () => {
    const { a, b, hold, told, ended } = bench();
    tell(a, 'primary');
    tell(b, 'primary', { timeline: 2 });
    await a.pool.acquire().promise;
    a.health = { ...down, state: 'suspect', failures: 1 };

    hold();
    expect(ended).toEqual(['a: a is an old primary; what still ran on it was ended.']);
    expect(told).toEqual([]);
    a.health = up;
    hold();
    hold();

    expect(told).toEqual(['a fenced on 1 of 2']);
    expect(ended).toHaveLength(1);
  });

  it('tells of an old primary again after it was away, or served as a replica', () => {
    const { a, b, hold, told } = bench();
    tell(b, 'replica');
    tell(b, 'primary', { timeline: 2 });
    for (const role of ['primary', 'replica', 'primary'] as const) {
      tell(a, role, { timeline: role === 'primary' ? 1 : 2 });
      hold();
    }

    expect(told).toEqual(['a fenced on 1 of 2', 'a fenced on 1 of 2']);
  });

  it.each<[string, Partial<ServerReport>]>([
    ['another primary', { server: 'two' }],
    ['foreign', { systemId: '9' }],
  ])('tells once of a second primary that is %s', (exclusion, report) => {
    const { a, b, hold, told } = bench();
    tell(a, 'primary', { server: 'one' });
    tell(b, 'replica');
    tell(b, 'primary', report);

    hold();
    tell(a, 'primary', { server: 'one' });
    hold();
    hold();

    expect(b.exclusion).toBe(exclusion);
    expect(told).toEqual([`b ${exclusion}`]);
  });

  it('tells again of an exclusion that has ended meanwhile', () => {
    const { a, b, hold, told } = bench();
    tell(a, 'primary');
    for (const role of ['primary', 'replica', 'primary'] as const) {
      tell(b, role);
      tell(a, 'primary');
      hold();
    }

    expect(told).toEqual(['b another primary', 'b another primary']);
  });

  it('says nothing of the primary under another name', () => {
    const { a, b, hold, told } = bench();
    tell(a, 'primary', { server: 'one' });
    tell(b, 'primary', { server: 'one' });

    expect(hold()).toBe('a');

    expect(b).toMatchObject({ exclusion: 'same server', rivalTimeline: undefined });
    expect(told).toEqual([]);
  });

  it('lets the other name of the primary take its place', () => {
    const { a, b, hold } = bench();
    tell(a, 'primary', { server: 'one' });
    tell(b, 'primary', { server: 'one' });
    hold();

    silence(a);

    expect(hold()).toBe('b');
    expect(b.exclusion).toBeUndefined();
  });

  it('gives no writes to a rival of the primary that has gone', () => {
    const { a, b, hold } = bench();
    tell(a, 'primary', { server: 'one' });
    tell(b, 'primary', { server: 'two' });
    hold();
    tell(a, 'primary', { server: 'one' });
    hold();

    silence(a);
    expect(hold()).toBeUndefined();
    expect(b.exclusion).toBe('another primary');
    tell(a, 'primary', { server: 'one, restarted' });

    expect(hold()).toBe('a');
  });

  it('gives writes to a rival that was promoted anew', () => {
    const { a, b, hold } = bench();
    tell(a, 'primary', { server: 'one' });
    tell(b, 'primary', { server: 'two' });
    hold();
    tell(a, 'primary', { server: 'one' });
    hold();

    tell(b, 'primary', { server: 'two', timeline: 2 });

    expect(hold()).toBe('b');
    expect(a.exclusion).toBe('fenced');
  });

  it('gives writes to a rival that has followed the primary since', () => {
    const { a, b, hold } = bench();
    tell(a, 'primary', { server: 'one' });
    tell(b, 'primary', { server: 'two' });
    hold();
    tell(a, 'primary', { server: 'one' });
    hold();

    tell(b, 'replica');
    hold();
    silence(a);
    tell(b, 'primary', { timeline: 1 });

    expect(hold()).toBe('b');
  });

  it('bars no second name of a primary that restarts, and is not heard of by the first one', () => {
    const { a, b, hold, told } = bench();
    tell(a, 'primary', { server: 'one' });
    tell(b, 'primary', { server: 'restarted' });
    hold();
    expect(b.exclusion).toBe('another primary');

    silence(a);

    expect(hold()).toBe('b');
    expect(told).toEqual([]);
  });

  it('forgets a rivalry that was no more than a restart seen by one name before the other', () => {
    const { a, b, hold } = bench();
    tell(a, 'primary', { server: 'restarted' });
    tell(b, 'primary', { server: 'one' });
    tell(a, 'primary', { server: 'restarted' });
    hold();
    expect(b.rivalTimeline).toBe(1);

    tell(b, 'primary', { server: 'restarted' });
    hold();
    silence(a);

    expect(hold()).toBe('b');
  });

  it('takes no server for a rival that does not tell which one it is', () => {
    const { a, b, hold } = bench();
    tell(a, 'primary');
    tell(b, 'primary');
    hold();

    silence(a);

    expect(hold()).toBe('b');
  });

  it('excludes nobody where roles do not count', () => {
    const { a, b, hold, told, ended } = bench({ hasRoles: false });
    tell(a, 'primary', { timeline: 2, server: 'one' });
    tell(b, 'primary', { timeline: 1, server: 'two' });

    expect(hold()).toBe('a');

    expect(b).toMatchObject({ exclusion: undefined, rivalTimeline: undefined });
    expect([...told, ...ended]).toEqual([]);
  });
});

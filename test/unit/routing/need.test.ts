import { describe, expect, it } from '@jest/globals';
import type { Mark } from '../../../lib/consistency/mark.ts';
import { Positions } from '../../../lib/consistency/positions.ts';
import type { Connection, Host } from '../../../lib/hosts/host.ts';
import { listenToServer, serverFacts } from '../../../lib/hosts/server-facts.ts';
import type { Freshness, Need, NeedParts } from '../../../lib/routing/need.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { hostSettings, makeHost, reportOf } from '../../support/hosts.ts';
import { makeNeed } from '../../support/need.ts';

const mark: Mark = { timeline: 2, lsn: 100n };

interface Bench {
  readonly clock: FakeClock;
  readonly positions: Positions;
  /** Whose probes found the server `own`. */
  readonly host: Host;
  readonly need: (told?: Partial<NeedParts>) => Need;
}

function bench(): Bench {
  const clock = new FakeClock();
  const positions = new Positions();
  const host = makeHost(hostSettings('a'), 'replica', {}, clock);
  host.report = reportOf('replica', { server: 'own' });
  host.reportedAt = clock.now();
  const need = (told: Partial<NeedParts> = {}): Need =>
    makeNeed({ mark, positions, clock, ...told });
  return { clock, positions, host, need };
}

function connectionTo(server: string | undefined): Connection {
  const connection = {};
  listenToServer(connection, () => undefined);
  Object.assign(serverFacts(connection) ?? {}, { server });
  return connection;
}

describe('Need', () => {
  it.each<[string, number | undefined, bigint, Freshness]>([
    ['fresh: it has reached the mark', 2, 100n, 'fresh'],
    ['one to ask: it has not reached it yet', 2, 99n, 'unsure'],
    ['behind: it follows an earlier timeline, however far', 1, 200n, 'behind'],
    ['behind: it follows a later timeline', 3, 200n, 'behind'],
  ])('takes a replica for %s', (_, timeline, lsn, freshness) => {
    const { positions, host, need } = bench();
    positions.note('own', timeline, lsn);

    expect(need().of(host)).toBe(freshness);
  });

  it('is sure of no replica of which nothing is known', () => {
    const { host, need, positions } = bench();
    positions.note('another', 2, 100n);
    expect(need().of(host)).toBe('unsure');

    host.report = undefined;

    expect(need().of(host)).toBe('unsure');
  });

  it('is met by the primary alone where no mark is known', () => {
    const { positions, host, need } = bench();
    positions.note('own', 2, 100n);

    const unknown = need({ mark: undefined });

    expect([unknown.of(host), unknown.on(connectionTo('own'))]).toEqual(['behind', 'behind']);
    expect(unknown.reason).toBe('the position of what its session wrote is not known');
  });

  it('has no replica asked in vain for what it takes longer to replay', () => {
    const { clock, host, need } = bench();
    host.catchUp.noteBehind(10, clock.now());
    const wanted = need();
    expect(wanted.of(host)).toBe('behind');

    clock.advance(24);
    expect([wanted.ageMillis, wanted.of(host)]).toEqual([24, 'behind']);
    clock.advance(1);

    expect(wanted.of(host)).toBe('unsure');
    expect(need().of(host)).toBe('behind');
  });

  it('has no replica asked before its measured lag is over', () => {
    const { clock, host, need } = bench();
    host.lag = { bytes: 10, millis: 50 };
    const wanted = need();
    expect(wanted.of(host)).toBe('behind');

    clock.advance(50);

    expect(wanted.of(host)).toBe('unsure');
  });

  it('lets a lag that was measured a while ago keep nobody from asking', () => {
    const { clock, host, need } = bench();
    host.lag = { bytes: 10, millis: 5000 };
    clock.advance(999);
    expect(need().of(host)).toBe('behind');

    clock.advance(1);

    expect(need().of(host)).toBe('unsure');
  });

  it('passes over a host that looks fresh by its name, and has another server behind it', () => {
    const { positions, host, need } = bench();
    positions.note('own', 2, 100n);
    const [first, second] = [need(), need()];

    second.noteRefused(host);

    expect([first.of(host), second.of(host)]).toEqual(['fresh', 'behind']);
  });

  it('has a replica that refused asked again after a wait, and later each time', () => {
    const { clock, host, need } = bench();
    const waiting = need();
    const seen: string[] = [];

    for (const millis of [10, 10, 10]) {
      waiting.noteRefused(host);
      clock.advance(millis);
      waiting.lookAgain();
      seen.push(waiting.of(host));
    }

    expect(seen).toEqual(['unsure', 'behind', 'behind']);
  });

  it('has nobody asked once more when the time of the read is up', () => {
    const { clock, positions, host, need } = bench();
    const [first, second] = [need({ giveUpAt: 50 }), need({ giveUpAt: 50 })];
    host.catchUp.noteBehind(1, clock.now());
    second.noteRefused(host);
    clock.advance(48);
    expect(second.of(host)).toBe('behind');
    second.lookAgain();
    expect([first.of(host), second.of(host)]).toEqual(['unsure', 'unsure']);

    clock.advance(1);
    expect([first.of(host), second.of(host)]).toEqual(['unsure', 'behind']);
    positions.note('own', 2, 100n);

    expect(second.of(host)).toBe('fresh');
  });

  it('takes what is known to be there for fresh, however long it took before', () => {
    const { clock, positions, host, need } = bench();
    host.catchUp.noteBehind(10, clock.now());
    host.lag = { bytes: 10, millis: 50 };

    positions.note('own', 2, 100n);

    expect(need().of(host)).toBe('fresh');
  });

  it.each<[string, string | undefined, Freshness]>([
    ['the server that has it', 'own', 'fresh'],
    ['another server under the same name', 'other', 'unsure'],
    ['a server that does not say which it is', undefined, 'behind'],
  ])('judges a connection by its own server: %s', (_, server, freshness) => {
    const { positions, need } = bench();
    positions.note('own', 2, 100n);
    positions.note('other', 2, 99n);

    expect(need().on(connectionTo(server))).toBe(freshness);
  });

  it('is not met by a connection that tells nothing at all', () => {
    expect(bench().need().on({})).toBe('behind');
  });

  it.each<[string, string | undefined, boolean]>([
    ['on the timeline', 'on it', true],
    ['on another one', 'off it', false],
    ['not heard of', 'new', false],
    ['not told', undefined, false],
  ])('knows whether the server of a connection is %s', (_, server, expected) => {
    const { positions, need } = bench();
    positions.note('on it', 2, 0n);
    positions.note('off it', 1, 0n);

    expect(need().isOnTimeline(connectionTo(server))).toBe(expected);
  });

  it('says why the primary serves', () => {
    expect(bench().need().reason).toMatch(/no replica is known to have/);
  });
});

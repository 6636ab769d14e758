import { describe, expect, it } from '@jest/globals';
import type { MaxLagSettings } from '../../../lib/config/settings.ts';
import { RWSplitEmitter } from '../../../lib/events.ts';
import type { Host } from '../../../lib/hosts/host.ts';
import { LagWatch } from '../../../lib/hosts/lag-watch.ts';
import type { ServerReport } from '../../../lib/hosts/server-report.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { healthSettings, hostSettings, makeHost, reportOf } from '../../support/hosts.ts';

/** Three probes, and the time that the last may take. */
const STALE = 16_000;

interface Bench {
  readonly clock: FakeClock;
  readonly primary: Host;
  readonly replica: Host;
  readonly watch: LagWatch;
  /** Has the primary or the replica report at this moment. */
  readonly hear: (host: Host, told?: Partial<ServerReport>) => void;
  /** What listeners heard, as `host fit` or `host unfit`. */
  readonly told: string[];
}

function bench(maxLag: MaxLagSettings | false = { millis: 1000, bytes: undefined }): Bench {
  const clock = new FakeClock();
  const events = new RWSplitEmitter();
  const told: string[] = [];
  events.on('host:lag', ({ host, isFit }) => told.push(`${host} ${isFit ? 'fit' : 'unfit'}`));
  const primary = makeHost(hostSettings('a'), 'primary', {}, clock);
  const replica = makeHost(hostSettings('b'), 'replica', {}, clock);
  const watch = new LagWatch({ maxLag, health: healthSettings, events, clock });
  const standing = { elected: primary, isSettled: true };
  const hear = (host: Host, more: Partial<ServerReport> = {}): void => {
    const report = reportOf(host === primary ? 'primary' : 'replica', more);
    host.report = report;
    watch.measure(host, report, clock.now(), standing);
  };
  return { clock, primary, replica, watch, hear, told };
}

const unknown = { bytes: undefined, millis: undefined };

describe('LagWatch', () => {
  it('measures a replica by the position of the primary', () => {
    const { clock, primary, replica, hear, told } = bench();
    hear(primary, { position: 1000n });
    clock.advance(1001);

    hear(replica, { position: 900n });
    expect(replica.lag).toEqual({ bytes: 100, millis: 1001 });
    expect(replica.lagProblem).toMatch(/lags 1001 ms/);
    hear(replica, { position: 1000n });

    expect(replica).toMatchObject({ lag: { bytes: 0, millis: 0 }, lagProblem: undefined });
    expect(told).toEqual(['b unfit', 'b fit']);
  });

  it('believes a report of a replica that answers nothing more for three probes', () => {
    const { clock, primary, replica, watch, hear, told } = bench();
    hear(primary);
    hear(replica);

    clock.advance(STALE);
    watch.noteNothing(replica);

    expect(replica).toMatchObject({ lag: { bytes: 0, millis: 0 }, lagProblem: undefined });
    expect(told).toEqual([]);
  });

  it('does not know how far such a replica lags after that, and tells once', () => {
    const { clock, primary, replica, watch, hear, told } = bench();
    hear(primary);
    hear(replica);

    clock.advance(STALE + 1);
    watch.noteNothing(replica);
    watch.noteNothing(replica);

    expect(replica.lag).toEqual(unknown);
    expect(replica.lagProblem).toMatch(/how far it lags is unknown/);
    expect(told).toEqual(['b unfit']);
  });

  it('lets it serve again once it has reported', () => {
    const { clock, primary, replica, watch, hear, told } = bench();
    hear(primary);
    hear(replica);
    clock.advance(STALE + 1);
    watch.noteNothing(replica);

    hear(primary);
    hear(replica);

    expect(replica.lagProblem).toBeUndefined();
    expect(told).toEqual(['b unfit', 'b fit']);
  });

  it('lets it serve nonetheless where no lag is too large', () => {
    const { clock, primary, replica, watch, hear } = bench(false);
    hear(primary);
    hear(replica);

    clock.advance(STALE + 1);
    watch.noteNothing(replica);

    expect(replica).toMatchObject({ lag: unknown, lagProblem: undefined });
  });

  it('takes nothing from a primary, nor from a replica that never reported', () => {
    const { clock, primary, replica, watch, hear } = bench();
    hear(primary);
    clock.advance(STALE + 1);

    watch.noteNothing(primary);
    watch.noteNothing(replica);

    expect([primary.lagProblem, replica.lagProblem]).toEqual([undefined, undefined]);
  });

  it('asks nothing of a replica that was promoted since', () => {
    const { clock, replica, watch, hear } = bench();
    hear(replica);
    hear(replica, { isInRecovery: false });
    clock.advance(STALE + 1);

    watch.noteNothing(replica);

    expect(replica).toMatchObject({ lag: undefined, lagProblem: undefined });
  });

  it('does not count a primary that answers without a position for a replica that is cut off', () => {
    const { clock, primary, replica, hear } = bench();
    hear(primary);
    clock.advance(STALE + 1);

    hear(replica, { isReceiving: false, replayAgeMillis: 9000 });

    expect(replica.lag).toEqual({ bytes: undefined, millis: 9000 });
    expect(replica.lagProblem).toMatch(/lags 9000 ms/);
  });

  it('measures the replicas anew once every host was looked at, and none is a primary', () => {
    const { replica, watch, told } = bench();
    const report = reportOf('replica', { isReceiving: false, replayAgeMillis: 9e6 });
    replica.report = report;
    watch.measure(replica, report, 0, { elected: undefined, isSettled: false });
    expect(replica.lagProblem).toBeDefined();

    watch.settle([replica], { elected: undefined, isSettled: true });

    expect(replica.lagProblem).toBeUndefined();
    expect(told).toEqual(['b unfit', 'b fit']);
  });
});

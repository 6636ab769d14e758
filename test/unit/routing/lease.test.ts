import { describe, expect, it } from '@jest/globals';
import type { Connection, Host } from '../../../lib/hosts/host.ts';
import { type ConnectionUser, Lease } from '../../../lib/routing/lease.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { hostSettings, makeHost } from '../../support/hosts.ts';
import { makeRoute } from '../../support/route.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly a: Host;
  readonly b: Host;
  readonly lease: Lease;
  /** The connections that went back, in order. */
  readonly back: Connection[];
  readonly first: Connection;
}

function bench(intent: 'read' | 'write' = 'read'): Bench {
  const clock = new FakeClock();
  const [a, b] = [makeHost(hostSettings('a'), 'replica'), makeHost(hostSettings('b'), 'primary')];
  const back: Connection[] = [];
  const first = { name: 'first' };
  const lease = new Lease(makeRoute({ intent }), a, first, clock, ({ connection }) => {
    back.push(connection);
    return undefined;
  });
  return { clock, a, b, lease, back, first };
}

describe('Lease', () => {
  it('counts what its host serves, by what the query is', () => {
    expect(bench('read').a.served).toMatchObject({ reads: 1, writes: 0 });
    expect(bench('write').a.served).toMatchObject({ reads: 0, writes: 1 });
  });

  it('knows the role that its host had when it began, whatever becomes of it', () => {
    const { a, lease } = bench();

    a.role = 'primary';

    expect(lease.hostRole).toBe('replica');
  });

  it('knows the role of the host that it has moved to', () => {
    const { b, lease } = bench();

    lease.move({ host: b, connection: {} });
    b.role = 'replica';

    expect(lease.hostRole).toBe('primary');
  });

  it('tells its host how long it took, once', () => {
    const { clock, a, lease, back, first } = bench();
    clock.advance(30);

    void lease.release();
    clock.advance(30);
    void lease.release();

    expect(a.latencyMillis).toBe(30);
    expect(back).toEqual([first]);
  });

  it('tells each host its own time where it moves', () => {
    const { clock, a, b, lease } = bench();

    clock.advance(500);
    lease.move({ host: b, connection: {} });
    clock.advance(20);
    void lease.release();

    expect([a.latencyMillis, b.latencyMillis]).toEqual([500, 20]);
  });

  it('gives the first connection back as it moves, and the next one in the end', async () => {
    const { a, b, lease, back, first } = bench();
    const next = { name: 'next' };
    const user: ConnectionUser = { connection: first };
    lease.user = user;
    lease.description = { host: 'a', role: 'replica', reason: '' };

    lease.move({ host: b, connection: next });
    expect(back).toEqual([first]);
    expect(await a.idle(0, new FakeClock())).toBe(true);
    expect(user.connection).toBe(next);
    expect(lease.description).toBeUndefined();
    void lease.release();

    expect(back).toEqual([first, next]);
  });

  it('lets go of its query at the end, as it may stay in memory for longer', () => {
    const { lease, first } = bench();
    lease.user = { connection: first };
    lease.running = Promise.resolve();

    void lease.release();

    expect([lease.user, lease.running]).toEqual([undefined, undefined]);
  });
});

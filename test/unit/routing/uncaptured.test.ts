import { describe, expect, it } from '@jest/globals';
import { Session } from '../../../lib/consistency/session.ts';
import { Lease } from '../../../lib/routing/lease.ts';
import { isWrite, noteUncaptured } from '../../../lib/routing/uncaptured.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { hostSettings, makeHost } from '../../support/hosts.ts';
import { makeRoute } from '../../support/route.ts';

function lease(
  intent: 'read' | 'write' | 'session',
  role: 'primary' | 'replica',
  told: Partial<Lease> = {},
): Lease {
  const host = makeHost(hostSettings('a'), role);
  const made = new Lease(makeRoute({ intent }), host, {}, new FakeClock(), () => undefined);
  const settings = { mode: 'session', waitMillis: 0, monotonic: false, isStrict: true } as const;
  made.session = new Session(settings, 0);
  return Object.assign(made, told);
}

describe('isWrite', () => {
  it.each([
    ['a read', lease('read', 'replica'), false],
    ['a write', lease('write', 'primary'), true],
    ['what changes the session', lease('session', 'primary'), true],
    ['a read that a replica refused', lease('read', 'primary', { mayHaveWritten: true }), true],
  ])('says of %s whether its session has to see it later', (_, made, expected) => {
    expect(isWrite(made)).toBe(expected);
  });
});

describe('noteUncaptured', () => {
  it.each([
    ['a write that was not captured', lease('write', 'primary'), true],
    ['one that was', lease('write', 'primary', { isSettled: true }), false],
    [
      'what the application ran itself',
      lease('write', 'primary', { isSettled: true, isTaken: true }),
      true,
    ],
    ['a read', lease('read', 'primary'), false],
    ['what a replica refused, as it wrote', lease('write', 'replica'), false],
  ])('has a session doubt its position after %s, or not', (_, made, expected) => {
    noteUncaptured(made);

    expect(made.session?.isUncertain).toBe(expected);
  });

  it('takes a lease without a session as it is', () => {
    expect(() => noteUncaptured(lease('write', 'primary', { session: undefined }))).not.toThrow();
  });
});

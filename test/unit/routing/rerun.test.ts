import { describe, expect, it } from '@jest/globals';
import type { Failure } from '../../../lib/routing/failure.ts';
import { Lease } from '../../../lib/routing/lease.ts';
import { isOutcomeUnknown, planRerun } from '../../../lib/routing/rerun.ts';
import type { Rerun } from '../../../lib/routing/rerun.ts';
import type { Route } from '../../../lib/routing/route.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { hostSettings, makeHost } from '../../support/hosts.ts';
import { makeRoute } from '../../support/route.ts';

type Sketch = Partial<Pick<Lease, 'mayRetry' | 'mayRerun' | 'isCancelled' | 'isTransaction'>> & {
  readonly role?: Route['role'];
};

function leaseOf(
  intent: 'read' | 'write',
  { role = intent === 'read' ? 'replica' : 'primary', ...state }: Sketch = {},
): Lease {
  const route = makeRoute({ intent, role });
  const host = makeHost(hostSettings('a'), role === 'primary' ? 'primary' : 'replica');
  const lease = new Lease(route, host, {}, new FakeClock(), () => undefined);
  lease.request = { intent, proved: true, reason: '' };
  return Object.assign(lease, { mayRetry: true, ...state });
}

const harmless: Failure = {
  host: 'none',
  isConnectionLost: false,
  executed: 'no',
  rerunRead: 'no',
  rerunWrite: 'no',
};
const read = (rerunRead: Failure['rerunRead']): Failure => ({ ...harmless, rerunRead });
const write = (rerunWrite: Failure['rerunWrite']): Failure => ({ ...harmless, rerunWrite });

describe('planRerun', () => {
  it.each<[string, Failure['rerunRead'], Sketch, Rerun | undefined]>([
    ['that failed for good', 'no', {}, undefined],
    ['whose server was lost', 'elsewhere', {}, 'elsewhere'],
    ['whose server was lost inside a transaction', 'elsewhere', { mayRetry: false }, undefined],
    [
      'whose server was lost, and no replica refused',
      'elsewhere',
      { mayRerun: false },
      'elsewhere',
    ],
    ['that a replica refused', 'primary', {}, 'primary'],
    ['that a replica refused where it must stay', 'primary', { mayRerun: false }, undefined],
    ['that a replica may not know yet', 'primary-if-behind', {}, 'primary-soon'],
    ['that must stay on a replica', 'primary-if-behind', { mayRerun: false }, undefined],
    ['of which nobody waits for an answer', 'elsewhere', { isCancelled: true }, undefined],
  ])('of a read %s', (_, rerun, state, expected) => {
    expect(planRerun(leaseOf('read', state), read(rerun))).toBe(expected);
  });

  it.each<[string, Failure['rerunWrite'], Sketch, Rerun | undefined]>([
    ['that was sent', 'no', {}, undefined],
    ['that was not sent', 'yes', {}, 'again'],
    ['that was not sent inside a transaction', 'yes', { mayRetry: false }, undefined],
    ['that was sent where any host may take it', 'yes', { role: 'any' }, undefined],
    ['that was sent to a replica on purpose', 'yes', { role: 'replica' }, undefined],
    ['that was refused as by a replica', 'if-demoted', {}, 'if-demoted'],
    ['that a transaction of its own refuses', 'if-demoted', { mayRetry: false }, undefined],
    ['of which nobody waits for an answer', 'yes', { isCancelled: true }, undefined],
  ])('of a write %s', (_, rerun, state, expected) => {
    expect(planRerun(leaseOf('write', state), write(rerun))).toBe(expected);
  });

  it('is for no statement that was given up', () => {
    const lease = leaseOf('read');
    void lease.release();

    expect(planRerun(lease, read('elsewhere'))).toBeUndefined();
  });

  it('ends after eight attempts', () => {
    const lease = leaseOf('write');
    const attempt = { host: 'a', role: 'primary', code: undefined, message: 'not sent' } as const;

    const plans = Array.from({ length: 9 }, () => {
      lease.attempts = [...(lease.attempts ?? []), attempt];
      return planRerun(lease, write('yes'));
    });

    expect(plans).toEqual([...Array(7).fill('again'), undefined, undefined]);
  });

  it('takes a lease of no request for no read', () => {
    const lease = leaseOf('read');
    lease.request = undefined;

    expect(planRerun(lease, read('elsewhere'))).toBeUndefined();
  });
});

describe('isOutcomeUnknown', () => {
  const lost: Failure = { ...harmless, isConnectionLost: true, executed: 'unknown' };

  it.each<[string, Lease, Failure, string, boolean]>([
    ['a write whose answer was lost', leaseOf('write'), lost, 'insert into t values (1)', true],
    ['a read whose answer was lost', leaseOf('read'), lost, 'select 1', false],
    ['a write that was not sent', leaseOf('write'), { ...lost, executed: 'no' }, 'insert', false],
    [
      'a write that failed on this side',
      leaseOf('write'),
      { ...lost, isConnectionLost: false },
      'insert',
      false,
    ],
    ...(
      [
        ['insert into t values (1)', false],
        ['select f()', false],
        ['rollback', false],
        ['COMMIT', true],
        ['commit;', true],
        ['end', true],
        ["prepare transaction 'x'", true],
        ['insert into t values (1); commit', true],
        ['select commit_log from t', false],
        ['update t set done = true where t.end > 1', false],
      ] as const
    ).map(([text, isUnknown]): [string, Lease, Failure, string, boolean] => [
      `"${text}" in a transaction`,
      leaseOf('write', { isTransaction: true, mayRetry: false }),
      lost,
      text,
      isUnknown,
    ]),
  ])('of %s', (_, lease, failure, text, isUnknown) => {
    expect(isOutcomeUnknown(lease, failure, text)).toBe(isUnknown);
  });
});

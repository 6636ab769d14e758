import { describe, expect, it } from '@jest/globals';
import { judgeRefusal, Misroutes } from '../../../lib/routing/misroute.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('judgeRefusal', () => {
  it.each([
    ['25006', 'cannot execute INSERT in a read-only transaction', ''],
    ['25006', 'cannot execute NOTIFY during recovery', 'PreventCommandDuringRecovery'],
    ['0A000', 'cannot access temporary or unlogged relations during recovery', ''],
    ['0A000', 'während der Wiederherstellung nicht möglich', 'get_relation_info'],
    ['0A000', 'cannot use serializable mode in a hot standby', ''],
    ['55000', 'recovery is in progress', ''],
    ['XX000', 'cannot assign OIDs during recovery', ''],
    ['XX000', 'interne Meldung', 'GetNewObjectId'],
  ])('learns from %s "%s"', (code, message, routine) => {
    expect(judgeRefusal(Object.assign(new Error(message), { code, routine }))).toBe(
      'rerun-and-learn',
    );
  });

  it.each(['42P01', '42703', '42883', '42704', '3F000'])(
    'tries the primary without learning when the schema may be behind: %s',
    (code) => {
      expect(judgeRefusal(Object.assign(new Error('does not exist'), { code }))).toBe('rerun');
    },
  );

  it.each([
    ['0A000', 'cached plan must not change result type', 'RevalidateCachedQuery'],
    ['0A000', 'cross-database references are not implemented', ''],
    ['55000', 'object not in prerequisite state', ''],
    ['XX000', 'cache lookup failed', ''],
    ['40001', 'canceling statement due to conflict with recovery', ''],
    ['57014', 'canceling statement due to statement timeout', ''],
    ['42601', 'syntax error', ''],
    ['22012', 'division by zero', ''],
    [undefined, 'Connection terminated unexpectedly', ''],
  ])('leaves %s "%s" alone', (code, message, routine) => {
    expect(judgeRefusal(Object.assign(new Error(message), { code, routine }))).toBe('none');
  });

  it('leaves what is no error alone', () => {
    expect([undefined, null, 'text', {}].map(judgeRefusal)).toEqual(Array(4).fill('none'));
  });
});

describe('Misroutes', () => {
  it('remembers a text until it expires', () => {
    const clock = new FakeClock();
    const misroutes = new Misroutes(clock, 10, 1000);

    misroutes.learn('select f()');

    expect(misroutes.has('select f()')).toBe(true);
    expect(misroutes.has('select g()')).toBe(false);
    clock.advance(1001);
    expect(misroutes.has('select f()')).toBe(false);
  });

  it('forgets the oldest text when it is full', () => {
    const misroutes = new Misroutes(new FakeClock(), 2);

    for (const text of ['a', 'b', 'c']) misroutes.learn(text);

    expect(['a', 'b', 'c'].map((text) => misroutes.has(text))).toEqual([false, true, true]);
  });

  it('takes a text for another one in another search path or role', () => {
    const misroutes = new Misroutes(new FakeClock());

    misroutes.learn('select f()', 'tenant a');

    expect(misroutes.has('select f()', 'tenant a')).toBe(true);
    expect(misroutes.has('select f()', 'tenant b')).toBe(false);
    expect(misroutes.has('select f()')).toBe(false);
  });

  it('counts', () => {
    const misroutes = new Misroutes(new FakeClock());

    expect([misroutes.countRerun(), misroutes.countRerun()]).toEqual([1, 2]);
  });
});

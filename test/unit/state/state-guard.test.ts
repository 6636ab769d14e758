import { describe, expect, it } from '@jest/globals';
import { listenToServer, serverFacts } from '../../../lib/hosts/server-facts.ts';
import { ConnectionSync, keepSync } from '../../../lib/state/connection-sync.ts';
import { stateGuard } from '../../../lib/state/state-guard.ts';

function connection(isPooled: boolean | undefined): { sync: ConnectionSync } {
  const made = { sync: new ConnectionSync() };
  listenToServer(made, () => undefined);
  Object.assign(serverFacts(made) ?? {}, { isPooled });
  keepSync(made, made.sync);
  return made;
}

describe('stateGuard', () => {
  it.each([
    [undefined, undefined, ''],
    [false, undefined, ''],
    [true, 'session', ''],
    [true, undefined, 'a pooler seems to stand before a,'],
  ] as const)(
    'with a pooler seen: %s, and said: %s, answers "%s"',
    (isPooled, pooler, expected) => {
      const { message = '' } = stateGuard('a', pooler)(connection(isPooled)) ?? {};

      expect(message.match(/a pooler seems to stand before a,/)?.[0] ?? message).toBe(expected);
    },
  );

  it.each(['session', undefined] as const)(
    'lets no connection be in a state once one has changed its session, with %s said',
    (pooler) => {
      const guard = stateGuard('a', pooler);
      const [one, other] = [connection(false), connection(false)];

      one.sync.hasMoved = true;

      expect(guard(other)).toBeUndefined();
      expect(guard(one)?.message).toMatch(/on one connection to a several sessions have answered/);
      expect(guard(other)?.code).toBe('RWSPLIT_STATE');
      expect(stateGuard('b', pooler)(other)).toBeUndefined();
    },
  );
});

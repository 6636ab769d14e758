import { describe, expect, it } from '@jest/globals';
import { isReusable } from '../../../lib/routing/is-reusable.ts';
import { SessionChanges } from '../../../lib/routing/session-changes.ts';
import { ConnectionSync, keepSync } from '../../../lib/state/connection-sync.ts';
import { SessionStates } from '../../../lib/state/session-states.ts';
import { wantedState } from '../../../lib/state/wanted-state.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { settle } from '../../support/fake-servers.ts';

type Answer = (error: unknown, result?: { readonly rows: readonly object[] }) => void;

interface Bench {
  readonly parts: Parameters<typeof isReusable>[1] & { readonly clock: FakeClock };
  readonly connection: object;
  readonly sync: ConnectionSync;
  readonly asked: Answer[];
}

function bench(): Bench {
  const asked: Answer[] = [];
  const connection = { query: (_: unknown, done: Answer) => asked.push(done) };
  const sync = new ConnectionSync();
  keepSync(connection, sync);
  const states = new SessionStates();
  states.use();
  const sessionChanges = new SessionChanges(() => undefined);
  return { parts: { clock: new FakeClock(), sessionChanges, states }, connection, sync, asked };
}

describe('isReusable', () => {
  it('asks nothing of a session in which no code ran', () => {
    const { parts, connection, asked } = bench();

    expect(isReusable(connection, parts)).toBe(true);
    expect(asked).toEqual([]);
  });

  it('asks nothing of a session that was changed', () => {
    const { parts, connection, sync, asked } = bench();
    sync.mayHaveLeftovers = true;
    parts.sessionChanges.spoil(connection);

    expect(isReusable(connection, parts)).toBe(false);
    expect(asked).toEqual([]);
  });

  it.each([
    ['t', true],
    ['f', false],
  ])('asks once what code has left, and believes the answer %s', async (isClean, expected) => {
    const { parts, connection, sync, asked } = bench();
    sync.mayHaveLeftovers = true;

    const answer = isReusable(connection, parts);
    asked[0]?.(undefined, { rows: [{ isClean }] });

    expect(await answer).toBe(expected);
    expect(asked).toHaveLength(1);
    expect(parts.clock.pending).toBe(0);
  });

  it('asks without a time limit of the tenant, and else in its state', async () => {
    const { parts, connection, sync, asked } = bench();
    const { states } = parts;
    const limited = { app: 'x', statement_timeout: '1' };
    states.want(connection, wantedState({ searchPath: ['a'], role: 'one', settings: limited }));
    sync.mayHaveLeftovers = true;

    const answer = isReusable(connection, parts);
    const settings = { app: 'x', statement_timeout: '0' };
    expect(sync.wanted).toBe(wantedState({ searchPath: ['a'], role: 'one', settings }));
    asked[0]?.(undefined, { rows: [{ isClean: 't' }] });

    expect(await answer).toBe(true);
  });

  it('takes an error for what is left', async () => {
    const { parts, connection, sync, asked } = bench();
    sync.mayHaveLeftovers = true;

    const answer = isReusable(connection, parts);
    asked[0]?.(new Error('permission denied'));

    expect(await answer).toBe(false);
  });

  it('waits two seconds for the answer', async () => {
    const { parts, connection, sync } = bench();
    sync.mayHaveLeftovers = true;
    let answer: unknown = 'none';
    void Promise.resolve(isReusable(connection, parts)).then((isFit) => (answer = isFit));

    parts.clock.advance(1999);
    await settle();
    expect(answer).toBe('none');
    parts.clock.advance(1);
    await settle();

    expect(answer).toBe(false);
  });
});

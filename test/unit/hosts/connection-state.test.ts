import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { connectionState, settled } from '../../../lib/hosts/connection-state.ts';
import type { ConnectionState } from '../../../lib/hosts/connection-state.ts';
import { listenToServer } from '../../../lib/hosts/server-facts.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const inside = (status: string | null) => ({ getTransactionStatus: () => status });

describe('connectionState', () => {
  it.each<[string, object, ConnectionState]>([
    ['of a driver that tells nothing', {}, 'ready'],
    ['outside of a transaction', { readyForQuery: true, ...inside('I') }, 'ready'],
    ['of which nothing is known yet', inside(null), 'ready'],
    ['inside a transaction', { readyForQuery: true, ...inside('T') }, 'transaction'],
    ['inside a failed transaction', { readyForQuery: true, ...inside('E') }, 'transaction'],
    ['with a statement on its way', { readyForQuery: false, ...inside('I') }, 'busy'],
    ['with one on its way in a transaction', { readyForQuery: false, ...inside('T') }, 'busy'],
    [
      'that Knex gave up as it was busy',
      { readyForQuery: false, __knex__disposed: new Error('timeout') },
      'given up',
    ],
    [
      'that Knex gave up, and that has answered since',
      { readyForQuery: true, ...inside('I'), __knex__disposed: new Error('timeout') },
      'ready',
    ],
  ])('of a connection %s', (_, connection, state) => {
    expect(connectionState(connection)).toBe(state);
  });

  it.each(['end', 'error'])('of a connection that has had its %s', (event) => {
    const connection = Object.assign(new EventEmitter(), { readyForQuery: false });
    listenToServer(connection, () => undefined);

    connection.emit(event, new Error('gone'));

    expect(connectionState(connection)).toBe('ended');
  });
});

describe('settled', () => {
  it.each(['drain', 'end'])('is true once there is a %s', async (event) => {
    const clock = new FakeClock();
    const connection = new EventEmitter();
    const waiting = settled(connection, clock, 100);

    clock.advance(99);
    connection.emit(event);

    expect(await waiting).toBe(true);
    expect(clock.pending).toBe(0);
    expect(connection.eventNames()).toEqual([]);
  });

  it('is false when the time is up', async () => {
    const clock = new FakeClock();
    const connection = new EventEmitter();
    const waiting = settled(connection, clock, 100);

    clock.advance(100);

    expect(await waiting).toBe(false);
    expect(clock.pending).toBe(0);
    expect(connection.eventNames()).toEqual([]);
  });
});

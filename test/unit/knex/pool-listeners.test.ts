import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { Connection } from '../../../lib/hosts/host.ts';
import type { HostPool } from '../../../lib/hosts/pool.ts';
import { PoolListeners } from '../../../lib/knex/pool-listeners.ts';

function nothing(): void {}
function nothingElse(): void {}

function setUp(): { listeners: PoolListeners; heard: () => string[] } {
  const pool = new EventEmitter();
  // Of another client.
  pool.on('release', nothing);
  const listeners = new PoolListeners();
  const asPool = pool as unknown as HostPool<Connection>;
  listeners.on(asPool, 'release', nothing);
  listeners.on(asPool, 'release', nothing);
  listeners.on(asPool, 'release', nothingElse);
  listeners.on(asPool, 'createFail', nothing);
  return {
    listeners,
    heard: () => pool.eventNames().map((event) => `${String(event)} ${pool.listenerCount(event)}`),
  };
}

describe('PoolListeners', () => {
  it.each<[string, Parameters<PoolListeners['remove']>, string[]]>([
    ['one that is there twice, once', ['release', nothing], ['release 3', 'createFail 1']],
    ['all of an event, of their own client', ['release'], ['release 1', 'createFail 1']],
    ['all, of their own client', [], ['release 1']],
    ['none that is not theirs', ['destroyFail', nothing], ['release 4', 'createFail 1']],
  ])('remove %s', (_, wanted, left) => {
    const { listeners, heard } = setUp();
    expect(heard()).toEqual(['release 4', 'createFail 1']);

    listeners.remove(...wanted);

    expect(heard()).toEqual(left);
  });
});

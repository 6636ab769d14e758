import { describe, expect, it } from '@jest/globals';
import { ConnectionSync } from '../../../lib/state/connection-sync.ts';

describe('ConnectionSync', () => {
  it.each([
    [['1', '1', '1'], false],
    [['1', undefined, '1'], false],
    [[undefined, '1'], false],
    [['1', '2'], true],
    [['1', '2', '1', '1'], true],
  ])('knows of sessions %j whether they were several: %s', (sessions, hasMoved) => {
    const sync = new ConnectionSync();

    for (const session of sessions) sync.note({ name: 'x', before: null, after: '1', session });

    expect(sync.hasMoved).toBe(hasMoved);
  });
});

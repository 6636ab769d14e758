import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { RWSplitEmitter } from '../../lib/events.ts';

const about = { host: 'a', role: 'primary', was: 'replica' } as const;

describe('RWSplitEmitter', () => {
  it('tells every listener', () => {
    const emitter = new RWSplitEmitter();
    const told: unknown[] = [];
    emitter.on('host:role', (event) => told.push(event));

    emitter.tell('host:role', about);

    expect(told).toEqual([about]);
  });

  it('turns what a listener throws into a warning of the process', async () => {
    const emitter = new RWSplitEmitter();
    const warned = once(process, 'warning');
    emitter.on('host:role', () => {
      throw new Error('a mistake in the listener');
    });

    expect(() => emitter.tell('host:role', about)).not.toThrow();

    expect(await warned).toMatchObject([
      { message: expect.stringMatching(/"host:role".*: Error: a mistake in the listener/) },
    ]);
  });
});

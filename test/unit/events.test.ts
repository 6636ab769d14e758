import { describe, expect, it, jest } from '@jest/globals';
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

  it('turns what a listener throws into a warning of the process', () => {
    const emitter = new RWSplitEmitter();
    // Jest gives tests a copy of `process` that hears no warnings.
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    emitter.on('host:role', () => {
      throw new Error('a mistake in the listener');
    });

    expect(() => emitter.tell('host:role', about)).not.toThrow();

    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/"host:role".* threw: Error: a mistake in the listener/)],
    ]);
    warn.mockRestore();
  });
});

import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { OptionReader } from '../../../lib/config/option-reader.ts';
import type { Target } from '../../../lib/config/options.ts';
import { resolveConsistency } from '../../../lib/config/resolve-consistency.ts';
import type { ConsistencySettings } from '../../../lib/config/settings.ts';

function resolve(consistency: unknown, target: Target = 'split'): ConsistencySettings {
  return resolveConsistency(new OptionReader({ consistency }, 'rwSplit'), target);
}

describe('resolveConsistency', () => {
  it.each<[unknown, string]>([
    [undefined, 'session'],
    ['strong', 'strong'],
    [{}, 'session'],
    [{ mode: 'eventual' }, 'eventual'],
  ])('takes %p for the mode %s', (written, mode) => {
    expect(resolve(written).mode).toBe(mode);
  });

  it('is eventual where roles do not count', () => {
    expect(resolve(undefined, 'any').mode).toBe('eventual');
    expect(resolve('eventual', 'any').mode).toBe('eventual');
  });

  it('keeps the details', () => {
    const details = { waitMillis: 5, monotonic: true, token: { maxAgeMillis: 9 } };

    expect(resolve({ mode: 'session', ...details })).toEqual({ mode: 'session', ...details });
  });

  it.each([['hunter2'], [['hunter2', 'hunter1']]])('lists and hides the secret %p', (secret) => {
    const { token } = resolve({ token: { secret } });

    expect(token.secrets).toEqual([secret].flat());
    expect(inspect(token) + JSON.stringify(token)).not.toContain('hunter');
  });

  it.each<[string, unknown, Target]>([
    ['consistency', 'weak', 'split'],
    ['consistency', 7, 'split'],
    ['consistency', null, 'split'],
    ['consistency', 'session', 'any'],
    ['consistency.mode', { mode: 'strong' }, 'any'],
    ['consistency', 'strong', 'replica'],
    ['consistency.mode', { mode: 'strong' }, 'replica'],
    ['consistency.mode', { mode: 'weak' }, 'split'],
    ['consistency.waitMillis', { waitMillis: -1 }, 'split'],
    ['consistency.monotonic', { monotonic: 1 }, 'split'],
    ['consistency.modes', { modes: [] }, 'split'],
    ['consistency.token', { token: 'hunter2' }, 'split'],
    ['consistency.token', { token: 12_345 }, 'split'],
    ['consistency.token', { token: ['hunter2'] }, 'split'],
    ['consistency.token.secret', { token: { secret: { key: 'hunter2' } } }, 'split'],
    ['consistency.token.secret', { token: { secret: 12_345 } }, 'split'],
    ['consistency.token.secret', { token: { secret: ['hunter2', ''] } }, 'split'],
    ['consistency.token.secret', { token: { secret: [] } }, 'split'],
    ['consistency.token.maxAgeMillis', { token: { maxAgeMillis: 0 } }, 'split'],
    ['consistency.token.maxAge', { token: { maxAge: 1 } }, 'split'],
  ])('refuses a bad %s: %p with the target %s', (path, written, target) => {
    expect(() => resolve(written, target)).toThrow(
      expect.objectContaining({
        name: 'ConfigError',
        path: `rwSplit.${path}`,
        message: expect.not.stringMatching(/12345|hunter/),
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { OptionReader } from '../../../lib/config/option-reader.ts';
import { resolveState } from '../../../lib/config/resolve-state.ts';

function resolve(state: unknown): ReturnType<typeof resolveState> {
  return resolveState(new OptionReader({ state }, 'rwSplit'));
}

describe('resolveState', () => {
  it('wants nothing by default', () => {
    expect(resolve(undefined)).toBeUndefined();
    expect(resolve({})).toEqual({ settings: {} });
  });

  it('writes all values as texts', () => {
    const settings = { statement_timeout: 5, 'app.tenant': 'a', enable_seqscan: false };

    expect(resolve({ role: 'app', settings })).toMatchObject({
      role: 'app',
      settings: { statement_timeout: '5', 'app.tenant': 'a', enable_seqscan: 'false' },
    });
  });

  it.each([['a, b'], [['a', 'b']]])('reads the search path %p', (searchPath) => {
    expect(resolve({ searchPath })?.searchPath).toEqual(['a', 'b']);
  });

  it.each<[string, unknown]>([
    ['state', 'app'],
    ['state.role', { role: '' }],
    ['state.searchPath', { searchPath: '' }],
    ['state.searchPath', { searchPath: 7 }],
    ['state.searchPath[0]', { searchPath: [7] }],
    ['state.settings', { settings: [] }],
    ['state.settings', { settings: { 'a b': 1 } }],
    ['state.settings.work_mem', { settings: { work_mem: null } }],
    ['state.settings.work_mem', { settings: { work_mem: Number.NaN } }],
    ['state.schema', { schema: 'a' }],
  ])('refuses a bad %s: %p', (path, state) => {
    expect(() => resolve(state)).toThrow(
      expect.objectContaining({ name: 'ConfigError', path: `rwSplit.${path}` }),
    );
  });
});

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

  it.each([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    ['a', ['a']],
    // A tenant's name is one name.
    ['a, b', ['a, b']],
    ['x"; drop schema y', ['x"; drop schema y']],
    [[], []],
    [
      ['a', 'pg_catalog', 'information_schema'],
      ['a', 'pg_catalog', 'information_schema'],
    ],
    ['$USER', ['$USER']],
    ['my_pg_temp', ['my_pg_temp']],
  ])('reads the search path %p', (searchPath, expected) => {
    expect(resolve({ searchPath })?.searchPath).toEqual(expected);
  });

  it.each(['$user', 'pg_temp', 'pg_temp_3'])(
    'refuses %s in a search path, which stands for another schema',
    (name) => {
      for (const searchPath of [name, ['a', name]]) {
        expect(() => resolve({ searchPath })).toThrow(
          expect.objectContaining({
            name: 'ConfigError',
            path: 'rwSplit.state.searchPath',
            message: expect.stringMatching(/can't have ".+", which is .+; name /),
          }),
        );
      }
    },
  );

  it('takes names of settings in capitals for the same', () => {
    expect(resolve({ settings: { TimeZone: 'UTC' } })?.settings).toEqual({ timezone: 'UTC' });
  });

  it.each([
    'role',
    'Search_Path',
    'session_authorization',
    'client_encoding',
    'standard_conforming_strings',
    'transaction_read_only',
    'seed',
  ])('refuses the setting %s, and says why', (name) => {
    expect(() => resolve({ settings: { [name]: 'x' } })).toThrow(
      expect.objectContaining({
        name: 'ConfigError',
        path: `rwSplit.state.settings.${name}`,
        message: expect.stringContaining(`can't have "${name}", which `),
      }),
    );
  });

  it.each([
    ['searchPath', { searchPath: 'ü'.repeat(32) }],
    ['searchPath', { searchPath: ['a', 'x'.repeat(64)] }],
    ['role', { role: 'x'.repeat(64) }],
  ])('refuses a %s that PostgreSQL would cut off', (option, state) => {
    expect(() => resolve(state)).toThrow(
      expect.objectContaining({ path: `rwSplit.state.${option}` }),
    );
    expect(resolve({ role: 'x'.repeat(63) })?.role).toHaveLength(63);
  });

  it.each(['searchPath', 'role', 'settings'])(
    'refuses a %s that is undefined, as that of a missing tenant is',
    (option) => {
      expect(() => resolve({ [option]: undefined })).toThrow(
        expect.objectContaining({
          path: `rwSplit.state.${option}`,
          message: expect.stringContaining('left out'),
        }),
      );
    },
  );

  it('refuses settings that are one and the same, and too many', () => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`app.s${n}`, n]));

    expect(() => resolve({ settings: { 'app.x': 1, 'APP.X': 2 } })).toThrow('"app.x" twice');
    expect(() => resolve({ settings: many })).toThrow('at most 1000 settings');
  });

  it.each(['a\0b', 'a\ud800', '\udfffa'])('refuses %j, which PostgreSQL can not hold', (text) => {
    expect(() => resolve({ role: text })).toThrow('a text that PostgreSQL can hold');
    expect(() => resolve({ searchPath: [text] })).toThrow('a text that PostgreSQL can hold');
    expect(() => resolve({ settings: { 'app.x': text } })).toThrow('a text that PostgreSQL can');
    expect(resolve({ role: 'a😀' })?.role).toBe('a😀');
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

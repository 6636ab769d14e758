import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import type { StateSettings } from '../../../lib/config/settings.ts';
import { nothingWanted, stateOfKey, wantedState } from '../../../lib/state/wanted-state.ts';

const none: StateSettings = { searchPath: undefined, role: undefined, settings: {} };

describe('wantedState', () => {
  it('is the same for equal settings, in whatever order', () => {
    const one = wantedState({ ...none, settings: { a: '1', b: '2' } });

    expect(wantedState({ ...none, settings: { b: '2', a: '1' } })).toBe(one);
    expect(wantedState({ ...none, settings: { a: '1' } })).not.toBe(one);
    expect(wantedState(none)).toBe(nothingWanted);
  });

  it.each([
    [['a', 'b'], '"a", "b"'],
    [['$user'], '"$user"'],
    [['x"; drop schema y'], '"x""; drop schema y"'],
    [['a,b'], '"a,b"'],
    [[], ''],
  ])('quotes the names of a search path: %p', (searchPath, expected) => {
    expect(wantedState({ ...none, searchPath }).values.get('search_path')).toBe(expected);
  });

  it('sends a role and values as they are', () => {
    const state = wantedState({ ...none, role: `it's "one"`, settings: { 'app.x': `'; --` } });

    expect(Object.fromEntries(state.values)).toEqual({ role: `it's "one"`, 'app.x': `'; --` });
  });

  it('is merged field by field, the inner one first', () => {
    const outer = wantedState({ searchPath: ['a'], role: 'a', settings: { x: '1', y: '1' } });
    const inner = wantedState({ ...none, role: 'b', settings: { y: '2' } });

    expect(outer.with(inner)).toBe(
      wantedState({ searchPath: ['a'], role: 'b', settings: { x: '1', y: '2' } }),
    );
    expect(outer.with(nothingWanted)).toBe(outer);
    expect(nothingWanted.with(inner)).toBe(inner);
  });

  it('shows names, and no values', () => {
    const state = wantedState({ searchPath: ['a'], role: 'b', settings: { 'app.jwt': 'secret' } });

    expect(inspect({ state })).toBe('{ state: WantedState { search_path, app.jwt, role } }');
  });

  it('has a key for what names mean, and is made from it again', () => {
    const state = wantedState({ searchPath: ['a"b'], role: 'r', settings: { x: '1' } });
    const other = wantedState({ searchPath: ['a"b'], role: 'r', settings: { x: '2' } });

    expect(other.catalogKey).toBe(state.catalogKey);
    expect(stateOfKey(state.catalogKey)).toBe(
      wantedState({ searchPath: ['a"b'], role: 'r', settings: {} }),
    );
    expect(wantedState({ ...none, settings: { x: '1' } }).catalogKey).toBe('');
    expect(stateOfKey('')).toBe(nothingWanted);
  });
});

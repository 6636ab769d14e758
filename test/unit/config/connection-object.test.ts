import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { hideValue, mergeConnections } from '../../../lib/config/connection-object.ts';

describe('mergeConnections', () => {
  it('lets the last layer win, and what it leaves out show through', () => {
    const below = { host: 'h1', port: 1, user: 'app', ssl: true };
    const above = { host: 'h2', port: undefined, user: '', ssl: null };

    expect(mergeConnections(below, above)).toEqual({ host: 'h2', port: 1, user: 'app', ssl: true });
  });

  it('keeps false, 0 and empty texts that mean something', () => {
    const above = { ssl: false, statement_timeout: 0, options: '' };

    expect(mergeConnections({ ssl: true }, above)).toEqual(above);
  });

  it('hides the password, also one that is hidden below', () => {
    const merged = mergeConnections(hideValue({ host: 'h1' }, 'password', 'hunter2'), {});

    expect(merged.password).toBe('hunter2');
    expect(inspect(merged) + JSON.stringify(merged)).not.toContain('hunter2');
  });

  it('has no password where none is given', () => {
    expect('password' in mergeConnections({ host: 'h1', password: '' })).toBe(false);
  });

  it('freezes a copy', () => {
    const written = { host: 'h1', password: 'hunter2', ssl: { key: 'k' } };

    const merged = mergeConnections(written);

    expect(Object.isFrozen(merged)).toBe(true);
    expect(Object.isFrozen(merged.ssl)).toBe(true);
    expect(written).toEqual({ host: 'h1', password: 'hunter2', ssl: { key: 'k' } });
    expect(Object.isFrozen(written.ssl)).toBe(false);
  });

  it('passes instances on as they are', () => {
    const types = new Map();

    expect(mergeConnections({ types })['types']).toBe(types);
  });
});

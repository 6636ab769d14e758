import { describe, expect, it } from '@jest/globals';
import { namesSeveralHosts } from '../../../lib/config/plain-connection.ts';

describe('namesSeveralHosts', () => {
  it.each<[unknown, boolean]>([
    [undefined, false],
    [() => 'postgres://h1,h2', false],
    [{}, false],
    [{ host: 'h1' }, false],
    [{ host: 'h1,h2' }, true],
    ['postgres://h1/db', false],
    ['postgres://h1,h2/db', true],
    ['postgres://u:p,w@h1/db', false],
    [{ filename: 'postgres://h1:1,h2/db' }, true],
    [{ filename: 'h1,h2' }, true],
    [{ filename: 'host=h1,h2' }, true],
    [{ filename: 'h1' }, false],
    [{ connectionString: 'postgres://h1,h2/db' }, true],
    [{ connectionString: 'postgres://h1/db?options=a,b' }, false],
    [{ connectionString: 'postgres:///db?host=h1%2Ch2' }, true],
    [{ connectionString: 'postgres://h1:x/db' }, false],
  ])('of %p is %p', (connection, several) => {
    expect(namesSeveralHosts(connection)).toBe(several);
  });

  it('refuses a malformed list', () => {
    expect(() => namesSeveralHosts({ connectionString: 'postgres://h1,h2:x/db' })).toThrow(
      expect.objectContaining({ name: 'ConfigError', path: 'connection.connectionString' }),
    );
  });
});

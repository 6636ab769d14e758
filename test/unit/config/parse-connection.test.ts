import { describe, expect, it } from '@jest/globals';
import { parseConnection, urlOf } from '../../../lib/config/parse-connection.ts';

const cluster = {
  addresses: [
    { host: 'h1', port: 1 },
    { host: 'h2', port: 5432 },
  ],
  settings: { user: 'app', database: 'db' },
};

describe('parseConnection', () => {
  it.each<[string, unknown]>([
    ['a URL', 'postgres://app:hunter2@h1:1,h2/db'],
    ['what Knex makes of a URL', { filename: 'postgres://app:hunter2@h1:1,h2/db' }],
    ['a connectionString', { connectionString: 'postgres://app:hunter2@h1:1,h2/db' }],
    [
      'a connectionString that its neighbours complete',
      { connectionString: 'postgres://h1:1,h2', user: 'app', password: 'hunter2', database: 'db' },
    ],
    [
      'a connectionString without a host',
      {
        connectionString: 'postgres://app:hunter2@/db',
        host: 'h1,h2',
        port: '1,5432',
        user: 'other',
      },
    ],
    [
      'a list of hosts',
      { host: 'h1,h2', port: '1,5432', user: 'app', password: 'hunter2', database: 'db' },
    ],
  ])('reads %s', (_, connection) => {
    const parsed = parseConnection(connection, 'connection');

    expect(parsed).toEqual(cluster);
    expect(parsed.settings.password).toBe('hunter2');
  });

  it.each<[unknown, string]>([
    [7, 'connection'],
    [[], 'connection'],
    ['h1', 'connection'],
    [{ connectionString: 7 }, 'connection.connectionString'],
    [{ connectionString: 'h1,h2' }, 'connection.connectionString'],
    [{ host: 'h1', port: 'x' }, 'connection.port'],
  ])('refuses %p', (connection, path) => {
    expect(() => parseConnection(connection, 'connection')).toThrow(
      expect.objectContaining({ name: 'ConfigError', path }),
    );
  });
});

describe('urlOf', () => {
  it('leaves files and functions alone', () => {
    expect([{ filename: './db.sqlite' }, { filename: 7 }, () => ({})].map(urlOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { knex } from 'knex';
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
    [{ filename: 'h1' }, 'connection'],
    [{ filename: '' }, 'connection'],
    [{ host: '', port: '', database: 'app:hunter2@h1/db' }, 'connection'],
    [{ host: '', port: '', database: '1/db' }, 'connection'],
  ])('refuses %p', (connection, path) => {
    expect(() => parseConnection(connection, 'connection')).toThrow(
      expect.objectContaining({ name: 'ConfigError', path }),
    );
  });
});

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

describe('A text that Knex took apart', () => {
  it.each([
    ['a word', 'pg-1', 'is "pg-1"'],
    ['nothing', '', 'is ""'],
    ['what libpq reads', 'host=h1 password=hunter2', 'is a string'],
    ['a URL without its scheme', 'app:hunter2@h1/db', 'names no host'],
    ['a URL without its slashes', 'postgres:/app:hunter2@h1/db', 'names no host'],
    ['a URL for JDBC', 'jdbc:postgresql://h1/db', 'names no host'],
  ])('is refused where it was %s', (_, text, shown) => {
    const { connection } = knex({ client: 'pg', connection: text }).client.config;

    const error = thrownBy(() => parseConnection(connection, 'connection'));

    expect(error).toMatchObject({ name: 'ConfigError', path: 'connection' });
    expect(String(error)).toContain(`connection ${shown}`);
    expect(String(error)).toContain('a URL as in postgres://');
    expect(inspect(error)).not.toContain('hunter2');
  });

  it('is read where it is a URL without a host', () => {
    const { connection } = knex({ client: 'pg', connection: 'postgres:///db' }).client.config;

    expect(parseConnection(connection, 'connection').settings).toEqual({ database: 'db' });
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

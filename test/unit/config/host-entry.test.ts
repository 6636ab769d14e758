import { describe, expect, it } from '@jest/globals';
import { readHostEntry } from '../../../lib/config/host-entry.ts';

function ask(): never {
  throw new Error('called');
}

describe('readHostEntry', () => {
  it('reads an object', () => {
    const tags = ['eu'];
    const host = { host: 'h2', port: '6000', name: 'b', weight: 2, tags, pool: { max: 3 } };

    const entry = readHostEntry(host, 'at');

    expect(entry).toMatchObject({ name: 'b', weight: 2, tags, pool: { max: 3 }, path: 'at' });
    expect(entry.connection).toEqual({ host: 'h2', port: 6000 });
    expect(entry.written).toEqual({ ...host, port: 6000 });
  });

  it('gives what is left out its default, in the settings only', () => {
    const entry = readHostEntry({ host: 'h2' }, 'at');

    expect(entry).toMatchObject({ name: undefined, weight: 1, tags: [], pool: undefined });
    expect(entry.written).toEqual({ host: 'h2' });
  });

  it.each<[string, unknown]>([
    ['a URL', 'postgres://app:hunter2@h2:6000/db'],
    ['a connectionString', { connectionString: 'postgres://app:hunter2@h2:6000/db' }],
    ['an object', { host: 'h2', port: 6000, user: 'app', password: 'hunter2', database: 'db' }],
  ])('turns %s into an object without an enumerable password', (_, host) => {
    const { connection, written } = readHostEntry(host, 'at');

    const expected = { host: 'h2', port: 6000, user: 'app', database: 'db' };
    expect([connection, written]).toEqual([expected, expected]);
    expect([connection, written].map((each) => Reflect.get(Object(each), 'password'))).toEqual([
      'hunter2',
      'hunter2',
    ]);
  });

  it('keeps a function and does not call it', () => {
    expect(readHostEntry(ask, 'at')).toMatchObject({ connection: ask, written: ask, weight: 1 });
  });

  it('leaves out parameters of a URL that pg does not know', () => {
    const { connection } = readHostEntry('postgres://h2/db?gssencmode=disable', 'at');

    expect(connection).toEqual({ host: 'h2', database: 'db' });
  });

  it('reads again what it wrote', () => {
    const url = 'postgres://u:p@h2/db?sslmode=no-verify&connect_timeout=3&keepAlive=false';
    const first = readHostEntry(url, 'at');

    const second = readHostEntry(first.written, 'at');

    expect(second).toEqual(first);
    expect(second.connection).toMatchObject({ connectionTimeoutMillis: 3000, keepAlive: false });
  });

  it.each<[string, unknown, RegExp]>([
    ['at', 7, /is 7; it must be a host/],
    ['at', null, /is null; it must be a host/],
    ['at', [], /is a list/],
    ['at', 'h2', /is "h2"; it must be a host/],
    ['at', 'mysql://u:hunter2@h2/db', /"mysql:\/\/…@h2\/db"/],
    ['at', 'host=h2 password=hunter2', /is a string/],
    ['at', new Date(0), /is an object/],
    ['at', 'postgres://h2,h3/db', /names several hosts/],
    ['at', { host: 'h2,h3' }, /names several hosts/],
    ['at', 'postgres://h2/db?targetServerType=any', /parameter targetServerType/],
    ['at', 'postgres://h2/db?weight=2', /has "weight"/],
    ['at.weight', { host: 'h2', weight: -1 }, /is -1/],
    ['at.weight', { host: 'h2', weight: '1' }, /is "1"/],
    ['at.weight', { host: 'h2', weight: Number.NaN }, /is NaN/],
    ['at.weight', { host: 'h2', weight: Number.POSITIVE_INFINITY }, /is Infinity/],
    ['at.weigth', { host: 'h2', weigth: 1 }, /"weight"/],
    ['at.hots', { hots: 'h2' }, /"host"/],
    ['at.name', { host: 'h2', name: '' }, /non-empty string/],
    ['at.tags', { host: 'h2', tags: 'eu' }, /list/],
    ['at.tags[0]', { host: 'h2', tags: [1] }, /non-empty string/],
    ['at.pool.maxx', { host: 'h2', pool: { maxx: 1 } }, /"max"/],
    ['at.port', { host: 'h2', port: 'x' }, /1 to 65535/],
    ['at.port', { host: 'h2', port: 0 }, /1 to 65535/],
    ['at.host', { host: 7 }, /host/],
    ['at.user', { host: 'h2', user: 7 }, /non-empty string/],
    ['at.password', { host: 'h2', password: 12_345 }, /a string or a function/],
    ['at.connectionTimeoutMillis', { host: 'h2', connectionTimeoutMillis: '5' }, /milliseconds/],
    ['at.keepAlive', { host: 'h2', keepAlive: 'no' }, /true, false/],
    ['at.expirationChecker', { host: 'h2', expirationChecker: () => true }, /no option/],
  ])('refuses a bad %s: %p', (path, host, message) => {
    let error: unknown;
    try {
      readHostEntry(host, 'at');
    } catch (thrown) {
      error = thrown;
    }

    expect(error).toMatchObject({ name: 'ConfigError', path });
    expect(String(error)).toMatch(message);
    expect(String(error)).not.toMatch(/hunter2|12345/);
  });
});

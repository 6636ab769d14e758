import { describe, expect, it } from '@jest/globals';
import { isConnectionUrl, parseConnectionUrl } from '../../../lib/config/connection-url.ts';
import { ConfigError } from '../../../lib/errors.ts';

function addresses(url: string): readonly string[] {
  return parseConnectionUrl(url, 'connection').addresses.map(
    ({ host = '-', port = '-' }) => `${host} ${port}`,
  );
}

describe('isConnectionUrl', () => {
  it.each([
    ['postgres://h1', true],
    ['PostgreSQL://h1', true],
    ['mysql://h1', false],
    ['h1', false],
    [' postgres://h1', false],
  ])('of %p is %p', (text, isUrl) => {
    expect(isConnectionUrl(text)).toBe(isUrl);
  });
});

describe('parseConnectionUrl', () => {
  it.each([
    ['postgres://h1', ['h1 -']],
    ['postgres://h1:6000/db', ['h1 6000']],
    ['postgres:///db', ['- -']],
    ['postgres://u:p@/db', ['- -']],
    ['postgres://h1,h2', ['h1 5432', 'h2 5432']],
    ['postgres://u:p@h1:5432,h2,[::1]:5433/db', ['h1 5432', 'h2 5432', '::1 5433']],
    ['postgres://h1,h2:5433/db', ['h1 5432', 'h2 5433']],
    ['postgres://u:p,w@h1,h2/db', ['h1 5432', 'h2 5432']],
    [
      'postgresql://localhost:1234,_0another-host.com:4321/db',
      ['localhost 1234', '_0another-host.com 4321'],
    ],
    ['postgres://%2Fvar%2Frun/db', ['/var/run -']],
    ['postgres:///db?host=h1,h2&port=1,2', ['h1 1', 'h2 2']],
    ['postgres://h1/db?host=/var/run', ['/var/run -']],
    ['postgres://h1,h2/db?port=1,2', ['h1 1', 'h2 2']],
  ])('finds the hosts of %s', (url, expected) => {
    expect(addresses(url)).toEqual(expected);
  });

  it('decodes user, password and database', () => {
    const { settings } = parseConnectionUrl(
      'postgres://a%40b:p%2F%3Aw@h1,h2/my%20db',
      'connection',
    );

    expect(settings).toEqual({ user: 'a@b', database: 'my db' });
    expect(settings.password).toBe('p/:w');
  });

  it('understands the other parameters as pg does', () => {
    const url = 'postgres://h1,h2/db?sslmode=no-verify&application_name=shop&options=-c%20a%3Db';

    expect(parseConnectionUrl(url, 'connection').settings).toMatchObject({
      application_name: 'shop',
      options: '-c a=b',
      ssl: { rejectUnauthorized: false },
    });
  });

  it('leaves out what the URL leaves out', () => {
    expect(parseConnectionUrl('postgres://h1', 'connection').settings).toEqual({});
  });

  it.each([
    ['an empty host in a list', 'postgres://u:hunter2@h1,,h3/db'],
    ['an empty list', 'postgres://u:hunter2@,/db'],
    ['a host that ends in a comma', 'postgres://u:hunter2@h1,/db'],
    ['a port that is no number', 'postgres://u:hunter2@h1:x,h2/db'],
    ['a port that is too high', 'postgres://u:hunter2@h1,h2:65536/db'],
    ['a name that no host has', 'postgres://u:hunter2@localhost:1234,_0ano^ther-host.com:4321/db'],
    ['IPv6 without brackets', 'postgres://u:hunter2@h1,::1/db'],
    ['a "/" in the password', 'postgres://u:hunter2/x@h1,h2/db'],
    ['a "?" in the password', 'postgres://u:hunter2?x@h1,h2/db'],
    ['a "#" in the password', 'postgres://u:hunter2#x@h1,h2/db'],
    ['another database', 'mysql://u:hunter2@h1,h2/db'],
    ['no URL', 'host=h1 password=hunter2'],
    ['a certificate that is not there', 'postgres://u:hunter2@h1/db?sslrootcert=/no/such/file'],
  ])('refuses %s, without a password in the message', (_, url) => {
    let error: unknown;
    try {
      parseConnectionUrl(url, 'connection');
    } catch (thrown) {
      error = thrown;
    }

    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ path: 'connection' });
    expect(String(error) + JSON.stringify(error)).not.toContain('hunter2');
  });

  it.each([
    ['postgres://h1/db?sslrootcert=/no/such/file', /cannot be used: ENOENT/],
    ['postgres://h1/db?sslmode=verify-ca&uselibpqcompat=true', /cannot be used: SECURITY/],
    ['postgres://%ff:hunter2@h1/db', /must be a URL as in postgres/],
  ])('says what is wrong with %s', (url, message) => {
    expect(() => parseConnectionUrl(url, 'connection')).toThrow(message);
  });

  it('says which host is malformed', () => {
    expect(() => parseConnectionUrl('postgres://h1,h2:x/db', 'connection')).toThrow(
      'connection is "postgres://h1,h2:x/db"; its host number 2 must be',
    );
  });
});

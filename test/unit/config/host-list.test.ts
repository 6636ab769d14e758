import { describe, expect, it } from '@jest/globals';
import { listAddresses } from '../../../lib/config/host-list.ts';
import { ConfigError } from '../../../lib/errors.ts';

describe('listAddresses', () => {
  it.each<[string, unknown, unknown, readonly (number | object)[]]>([
    ['no host', undefined, undefined, [{}]],
    ['a port alone', undefined, 6000, [{ port: 6000 }]],
    ['one host', 'h1', undefined, [{ host: 'h1' }]],
    ['one host and the digits of a port', 'h1', '6000', [{ host: 'h1', port: 6000 }]],
    ['IPv6 in the brackets that Knex leaves', '[::1]', undefined, [{ host: '::1' }]],
    ['several hosts', 'h1,h2', undefined, [5432, 5432]],
    ['several hosts and the text of the last port', 'h1,h2', '6000', [5432, 6000]],
    ['several hosts and one port for all', 'h1,h2', 6000, [6000, 6000]],
    ['several hosts and ports', 'h1,h2', '1,2', [1, 2]],
    ['several hosts and a gap in the ports', 'h1,h2', '1,', [1, 5432]],
  ])('reads %s', (_, host, port, expected) => {
    const addresses = expected.map((item, index) =>
      typeof item === 'number' ? { host: `h${index + 1}`, port: item } : item,
    );

    expect(listAddresses(host, port, 'connection')).toEqual(addresses);
  });

  it.each<[string, unknown, unknown, string]>([
    ['a host that is no text', 7, undefined, 'connection.host'],
    ['a host that no server has', 'h^1', undefined, 'connection.host'],
    ['an empty host in a list', 'h1,,h3', undefined, 'connection.host'],
    ['a port that is none', 'h1', 'abc', 'connection.port'],
    ['port NaN', 'h1', Number.NaN, 'connection.port'],
    ['more ports than hosts', 'h1,h2', '1,2,3', 'connection.port'],
    ['one bad port of several', 'h1,h2', '1,x', 'connection.port'],
  ])('refuses %s', (_, host, port, path) => {
    expect(() => listAddresses(host, port, 'connection')).toThrow(
      expect.objectContaining({ constructor: ConfigError, path }),
    );
  });
});

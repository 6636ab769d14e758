import { describe, expect, it } from '@jest/globals';
import {
  formatAddress,
  normalizeHost,
  parseAddress,
  parsePort,
} from '../../../lib/config/host-address.ts';

describe('parseAddress', () => {
  it.each([
    ['h1', { host: 'h1' }],
    ['h1:5433', { host: 'h1', port: 5433 }],
    ['_0another-host.com:4321', { host: '_0another-host.com', port: 4321 }],
    ['10.0.0.1:1', { host: '10.0.0.1', port: 1 }],
    ['[::1]', { host: '::1' }],
    ['[::1]:5433', { host: '::1', port: 5433 }],
    ['%2Fvar%2Frun:5433', { host: '/var/run', port: 5433 }],
    ['bücher.example', { host: 'bücher.example' }],
  ])('reads %s', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
  });

  it.each([
    ['nothing', ''],
    ['a port alone', ':5432'],
    ['an empty port', 'h1:'],
    ['port 0', 'h1:0'],
    ['a port above 65535', 'h1:65536'],
    ['a port that is no number', 'h1:54a2'],
    ['a negative port', 'h1:-1'],
    ['IPv6 without brackets', '::1'],
    ['a name in brackets', '[h1]'],
    ['an open bracket', '[::1'],
    ['what no name has', '_0ano^ther-host.com:4321'],
    ['a space', 'h 1'],
    ['a broken escape', '%zz'],
  ])('refuses %s', (_, text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});

describe('parsePort', () => {
  it.each([[5432], ['5432']])('reads %p', (value) => {
    expect(parsePort(value)).toBe(5432);
  });

  it.each([[''], ['5432 '], ['0x10'], [1.5], [0], [Number.NaN], [null], [true]])(
    'refuses %p',
    (value) => {
      expect(parsePort(value)).toBeUndefined();
    },
  );
});

describe('formatAddress', () => {
  it.each([
    ['h1', 5432, 'h1:5432'],
    ['h1', undefined, 'h1'],
    ['::1', 5432, '[::1]:5432'],
    ['/var/run', 5432, '/var/run'],
  ])('writes %s and %p as %s', (host, port, text) => {
    expect(formatAddress(host, port)).toBe(text);
  });
});

describe('normalizeHost', () => {
  it.each([
    ['PG-1.Example', 'pg-1.example'],
    ['0:0::0001', '::1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['FE80::1%eth0', 'fe80::1%eth0'],
    ['/Var/Run', '/Var/Run'],
  ])('spells %s as %s', (host, normalized) => {
    expect(normalizeHost(host)).toBe(normalized);
  });
});

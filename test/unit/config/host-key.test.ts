import { describe, expect, it } from '@jest/globals';
import { mergeConnections } from '../../../lib/config/connection-object.ts';
import {
  environmentDefaults,
  hostKey,
  hostName,
  serverAddress,
  unknownDefaults,
} from '../../../lib/config/host-key.ts';

const login = { USER: 'login', USERNAME: 'login' };
const usual = environmentDefaults(login);

describe('environmentDefaults', () => {
  it('are those of pg', () => {
    expect(usual).toEqual({ host: 'localhost', port: 5432, user: 'login', database: '' });
    expect(
      environmentDefaults({ ...login, PGHOST: 'h', PGPORT: '1', PGUSER: 'u', PGDATABASE: 'd' }),
    ).toEqual({ host: 'h', port: 1, user: 'u', database: 'd' });
  });
});

describe('hostKey', () => {
  it.each([
    [{}, 'localhost:5432/login/login'],
    [{ host: 'PG-1' }, 'pg-1:5432/login/login'],
    [{ host: 'h1', user: 'app' }, 'h1:5432/app/app'],
    [{ host: '0::1', port: 1, user: 'app', database: 'Shop' }, '[::1]:1/Shop/app'],
    [{ host: '/var/run', database: 'd', user: 'u' }, '/var/run:5432/d/u'],
  ])('of %p is %s', (connection, key) => {
    expect(hostKey(mergeConnections(connection), usual)).toBe(key);
  });
});

describe('serverAddress', () => {
  it.each([
    [{}, 'localhost:5432'],
    [{ host: 'PG-1', user: 'app' }, 'pg-1:5432'],
    [{ host: '0::1', port: 1, database: 'shop' }, '[::1]:1'],
    [{ host: '/var/run', database: 'd' }, '/var/run:5432'],
  ])('of %p is %s', (connection, address) => {
    expect(serverAddress(mergeConnections(connection), usual)).toBe(address);
  });
});

describe('hostName', () => {
  it.each([
    [{}, 'localhost:5432'],
    [{ host: '::1', port: 1 }, '[::1]:1'],
    [{ host: '/var/run', port: 1 }, '/var/run'],
  ])('of %p is %s', (connection, name) => {
    expect(hostName(mergeConnections(connection), usual)).toBe(name);
  });

  it('is open where only a function knows the host', () => {
    expect(hostName(mergeConnections({ port: 1 }), unknownDefaults)).toBeUndefined();
    expect(hostName(mergeConnections({ host: 'h1' }), unknownDefaults)).toBe('h1');
  });
});

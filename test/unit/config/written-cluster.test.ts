import { describe, expect, it } from '@jest/globals';
import { readCluster } from '../../../lib/config/written-cluster.ts';

describe('readCluster', () => {
  it('presumes that the first host is the primary', () => {
    const cluster = readCluster('postgres://app:hunter2@h1:1,h2,[::1]:2/db', 'connection');

    expect(cluster.primary).toEqual({ host: 'h1', port: 1, user: 'app', database: 'db' });
    expect(Reflect.get(cluster.primary, 'password')).toBe('hunter2');
    expect(cluster.others).toEqual([
      { host: 'h2', port: 5432 },
      { host: '::1', port: 2 },
    ]);
  });

  it.each(['h2:6000', 'H2:6000'])('presumes that %s is the primary where the URL says so', (at) => {
    const url = `postgres://h1,h2:6000/db?writeDataSourceAddress=${at}&autoBalance=shuffle`;

    expect(readCluster(url, 'connection')).toMatchObject({
      primary: { host: 'h2', port: 6000, database: 'db' },
      others: [{ host: 'h1', port: 5432 }],
      balancer: 'shuffle',
    });
  });

  it('lists the hosts where the written primary is none of them', () => {
    const url = 'postgres://h1,h2:6000/db?writeDataSourceAddress=h3';

    expect(() => readCluster(url, 'connection')).toThrow(
      'connection.writeDataSourceAddress is h3:5432; it must be one of h1:5432, h2:6000.',
    );
  });

  it('leaves an absent host to the environment', () => {
    expect(readCluster(undefined, 'connection')).toMatchObject({ primary: {}, others: [] });
  });

  it('asks a function later', async () => {
    const { primary } = readCluster(() => ({ host: 'h1', custom: 1 }), 'connection');

    expect(typeof primary === 'function' && (await primary())).toEqual({ host: 'h1', custom: 1 });
  });

  it.each<[unknown, RegExp]>([
    ['postgres://h1,h2/db', /connection\(\) names several hosts/],
    ['postgres://h1/db?targetServerType=any', /connection\(\) has the parameter targetServerType/],
    [7, /connection\(\) is 7/],
  ])('refuses a function that answers with %p', async (answer, message) => {
    const { primary } = readCluster(() => Promise.resolve(answer), 'connection');

    await expect(typeof primary === 'function' && primary()).rejects.toThrow(message);
  });
});

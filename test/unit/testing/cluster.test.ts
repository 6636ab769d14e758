import { describe, expect, it } from '@jest/globals';
import { Cluster } from '../../../lib/testing/cluster.ts';

const parts = {
  user: 'app',
  password: 'p@ss/word',
  database: 'shop',
  hasStatementStatistics: false,
  addresses: [
    { host: '127.0.0.1', port: 5001 },
    { host: 'pg-2', port: 5002 },
    { host: '::1', port: 5003 },
  ],
  stop: () => Promise.resolve(),
};

describe('Cluster', () => {
  it('names its hosts by their roles', () => {
    const cluster = new Cluster(parts);

    expect(cluster.hosts.map(({ name }) => name)).toEqual(['primary', 'replica-1', 'replica-2']);
    expect(cluster.primary.name).toBe('primary');
    expect(cluster.replicas.map(({ name }) => name)).toEqual(['replica-1', 'replica-2']);
  });

  it('encodes its URL', () => {
    expect(new Cluster(parts).url).toBe(
      'postgres://app:p%40ss%2Fword@127.0.0.1:5001,pg-2:5002,[::1]:5003/shop',
    );
  });

  it('tells how to connect to the primary, or to the host in question', () => {
    const cluster = new Cluster(parts);
    const account = { user: 'app', password: 'p@ss/word', database: 'shop' };

    expect(cluster.connection()).toEqual({ host: '127.0.0.1', port: 5001, ...account });
    expect(cluster.connection(cluster.replicas[0])).toEqual({
      host: 'pg-2',
      port: 5002,
      ...account,
    });
  });

  it('needs a host', () => {
    expect(() => new Cluster({ ...parts, addresses: [] }).primary).toThrow('at least one host');
  });
});

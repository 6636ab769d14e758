import { afterEach } from '@jest/globals';
import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import type { TestHost } from '../../lib/testing/index.ts';

/** Opens clients of the driver alone, without this library. */
export type OpenClient = (host: TestHost, more?: ClientConfig) => Promise<Client>;

/** Gives a test file plain clients, which may lose their connection and are ended after each test. */
export function usePlainClients(): OpenClient {
  const clients = new Set<Client>();

  afterEach(async () => {
    await Promise.all(Array.from(clients, (client) => client.end()));
    clients.clear();
  });

  return async (host, more = {}) => {
    const client = new Client({ ...host.connection, ssl: false, ...more });
    client.on('error', () => undefined);
    clients.add(client);
    await client.connect();
    return client;
  };
}

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';

/** Gives a test file HTTP servers, each at the URL that is answered, which end with their test. */
export function useHttpServers(): (listener: RequestListener) => Promise<string> {
  const servers: Server[] = [];

  afterEach(async () => {
    const ended = servers.splice(0);
    for (const server of ended) server.close().closeAllConnections();
    await Promise.all(ended.map(async (server) => once(server, 'close')));
  });

  return async (listener) => {
    const server = createServer(listener);
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  };
}

import { once } from 'node:events';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../lib/testing/until.ts';
import { type ChaosProxy, startChaosProxy } from '../../support/chaos-proxy.ts';
import { runProgram } from '../../support/child.ts';
import { root } from '../../support/source-file.ts';

/** Long enough for anything on the loopback address to arrive. */
const quietMillis = 100;

interface EchoServer {
  readonly listener: Server;
  readonly sockets: Socket[];
  /** What was seen of clients: their bytes, `end`, and the code of an error. */
  readonly seen: string[];
}

describe('ChaosProxy', () => {
  let servers: EchoServer[] = [];
  let proxy: ChaosProxy;
  let clients: Socket[] = [];

  beforeEach(async () => {
    servers = [await echo('a'), await echo('b')];
    proxy = await startChaosProxy(addressOf(servers[0]));
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await proxy.stop();
    for (const { listener } of servers) listener.close();
  });

  const open = async (): Promise<Socket> => {
    const client = connect(proxy.port, proxy.host);
    clients.push(client);
    client.on('error', () => undefined);
    await once(client, 'connect');
    return client;
  };

  it('passes bytes and ends both ways', async () => {
    const client = await open();

    expect(await ask(client, 'hello')).toBe('a hello');
    expect(proxy.connections).toBe(1);
    client.end();
    await once(client, 'close');

    await until('it has closed', 1000, () => proxy.connections === 0);
    expect(servers[0]?.seen).toEqual(['hello', 'end']);
  });

  it('resets open connections at both ends when cut', async () => {
    const client = await open();
    await ask(client, 'hello');

    proxy.cut();

    await expect(failureOf(client)).resolves.toBe('ECONNRESET');
    await until('the server saw it', 1000, () => servers[0]?.seen.at(-1) === 'ECONNRESET');
    expect(await ask(await open(), 'again')).toBe('a again');
  });

  it('refuses new connections, and accepts them again on the same port', async () => {
    const client = await open();
    await ask(client, 'hello');

    proxy.refuse();

    await expect(open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await ask(client, 'still here')).toBe('a still here');
    await proxy.accept();
    expect(await ask(await open(), 'again')).toBe('a again');
  });

  it('swallows everything in a black hole, a client that leaves included', async () => {
    const [first, second] = [await open(), await open()];
    await ask(first, 'one');
    await ask(second, 'two');

    proxy.blackHole();
    const third = await open();
    for (const client of [first, third]) client.write('lost');
    first.end();
    second.resetAndDestroy();
    servers[0]?.sockets[0]?.write('lost, too');
    await sleep(quietMillis);

    expect(servers[0]?.seen).toEqual(['one', 'two']);
    expect([first, third].map((client) => [client.bytesRead, client.destroyed])).toEqual([
      ['a one'.length, false],
      [0, false],
    ]);
    expect(proxy.connections).toBe(3);
    expect(servers[0]?.sockets).toHaveLength(2);

    await proxy.pass();
    expect(await ask(await open(), 'again')).toBe('a again');
    third.write('still lost');
    await sleep(quietMillis);
    expect(third.bytesRead).toBe(0);
  });

  it('swallows the end of the server, too', async () => {
    const client = await open();
    await ask(client, 'hello');

    proxy.blackHole();
    servers[0]?.sockets[0]?.end();
    await sleep(quietMillis);

    expect(client.readableEnded).toBe(false);
  });

  it('can swallow only what is open', async () => {
    const client = await open();
    await ask(client, 'hello');

    proxy.blackHoleEstablished();

    expect(await ask(await open(), 'new')).toBe('a new');
    client.write('lost');
    await sleep(quietMillis);
    expect(servers[0]?.seen).toEqual(['hello', 'new']);
  });

  it('delays each direction, and keeps the order', async () => {
    const client = await open();
    await ask(client, 'hello');

    proxy.delay(60);
    const start = performance.now();
    await ask(client, 'both ways');
    // Timers may fire a millisecond early.
    expect(performance.now() - start).toBeGreaterThanOrEqual(118);

    client.write('slow ');
    await sleep(quietMillis / 5);
    await proxy.pass();
    client.write('fast');
    await until('all arrived', 1000, () => servers[0]?.seen.at(-1)?.endsWith('fast') === true);
    expect(servers[0]?.seen.join('')).toBe('helloboth waysslow fast');
  });

  it('sends new connections elsewhere', async () => {
    const client = await open();
    await ask(client, 'hello');

    proxy.retarget(addressOf(servers[1]));

    expect(await ask(client, 'old')).toBe('a old');
    expect(await ask(await open(), 'new')).toBe('b new');
  });

  it('shows a server that refuses as a reset', async () => {
    servers[0]?.listener.close();

    const client = await open();

    await expect(failureOf(client)).resolves.toBe('ECONNRESET');
  });

  it('leaves nothing when it is stopped', async () => {
    const client = await open();
    await ask(client, 'hello');
    proxy.blackHole();
    const failure = failureOf(client);

    await proxy.stop();

    expect(await failure).toBe('ECONNRESET');
    await until('the server saw it', 1000, () => servers[0]?.seen.at(-1) === 'ECONNRESET');
    expect(proxy.connections).toBe(0);
    await expect(open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('keeps no process alive', async () => {
    const { port } = addressOf(servers[0]);

    const ended = await runProgram(`
      const { startChaosProxy } = require(${JSON.stringify(join(root, 'test/support/chaos-proxy.ts'))});
      const proxy = await startChaosProxy({ host: '127.0.0.1', port: ${port} });
      const client = require('node:net').connect(proxy.port, proxy.host);
      client.write('hello');
      const [answer] = await require('node:events').once(client, 'data');
      client.unref();
      print(String(answer));
    `);

    expect(ended).toMatchObject({ exitCode: 0, printed: 'a hello' });
  });
});

async function echo(name: string): Promise<EchoServer> {
  const sockets: Socket[] = [];
  const seen: string[] = [];
  const listener = createServer((socket) => {
    sockets.push(socket);
    socket.on('data', (bytes) => {
      seen.push(String(bytes));
      socket.write(`${name} ${String(bytes)}`);
    });
    socket.on('end', () => seen.push('end'));
    socket.on('error', (error) => seen.push(codeOf(error)));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return { listener, sockets, seen };
}

function addressOf(server: EchoServer | undefined): { host: string; port: number } {
  const address = server?.listener.address();
  if (typeof address !== 'object' || !address) throw new Error('The server does not listen.');
  return { host: '127.0.0.1', port: address.port };
}

async function ask(client: Socket, text: string): Promise<string> {
  client.write(text);
  const [answer] = (await once(client, 'data')) as [Buffer];
  return String(answer);
}

async function failureOf(client: Socket): Promise<string> {
  const [error] = (await once(client, 'error')) as [Error];
  return codeOf(error);
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.message;
}

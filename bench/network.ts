/**
 * A program that puts a slow network in front of the servers of its arguments (a delay in
 * milliseconds, then ports), tells the ports to use instead, and ends with whoever started it.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { DelayLine } from './delay-line.ts';

const [delayMillis = 0, ...ports] = process.argv.slice(2).map(Number);

function forward(from: Socket, to: Socket): void {
  const line = new DelayLine<Buffer>(delayMillis, (bytes) => to.write(bytes));
  from.on('data', (bytes) => line.push(bytes));
  from.on('error', () => undefined);
  from.on('close', () => to.destroy());
}

async function open(port: number): Promise<number> {
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: '127.0.0.1', port, noDelay: true });
    forward(client, upstream);
    forward(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

async function main(): Promise<void> {
  process.send?.(await Promise.all(ports.map(open)));
}

process.on('disconnect', () => process.exit());
void main();

import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { PortReservation } from '../../../lib/testing/port-reservation.ts';

async function listenOn(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

describe('PortReservation', () => {
  it('keeps its ports from others until it releases them', async () => {
    const reservation = await PortReservation.make(3);
    const [port = 0] = reservation.ports;

    expect(new Set(reservation.ports).size).toBe(3);
    await expect(listenOn(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });

    await reservation.release();

    await expect(listenOn(port)).resolves.toBeUndefined();
  });
});

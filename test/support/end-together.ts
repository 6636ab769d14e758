import type { Socket } from 'node:net';

/** Ends either of two sockets with the other one, and keeps them in `sockets` for as long as they are open. */
export function endTogether(sockets: Set<Socket>, one: Socket, other: Socket): void {
  for (const [end, opposite] of [
    [one, other],
    [other, one],
  ] as const) {
    sockets.add(end);
    end.on('error', () => undefined);
    end.on('close', () => {
      sockets.delete(end);
      opposite.destroy();
    });
  }
}

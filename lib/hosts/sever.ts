import type { Clock } from '../clock.ts';
import type { Connection } from './host.ts';

/** A `pg` client, as far as its socket is concerned; another driver's may have none. */
interface Socketed {
  readonly connection?: { readonly stream?: { destroy?(error?: Error): unknown } };
}

// How long a server may take to see a connection off.
const END_MILLIS = 1000;

/** The connection was ended from this side while a statement ran on it, whose outcome is not known. */
export class SeveredError extends Error {
  /** As Node calls a connection that the own side gave up. */
  readonly code = 'ECONNABORTED';

  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** Ends a connection without asking its server: whatever runs on it fails with `error`. */
export function sever(connection: Connection, error: Error): void {
  (connection as Socketed).connection?.stream?.destroy?.(error);
}

/** Ends a connection in the driver's own way, or without its server where that doesn't answer. */
export async function endOrSever(
  connection: Connection,
  end: () => unknown,
  clock: Clock,
): Promise<void> {
  const stopWaiting = clock.after(END_MILLIS, () => {
    sever(connection, new Error('The server did not end the connection.'));
  });
  try {
    await end();
  } finally {
    stopWaiting();
  }
}

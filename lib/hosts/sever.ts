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

/** Makes the error of one connection: Knex and others write into it, so that no two may share it. */
export type ErrorOfOne = () => Error;

/** Ends a connection without asking its server: whatever runs on it fails with an error of its own. */
export function sever(connection: Connection, reason: ErrorOfOne): void {
  (connection as Socketed).connection?.stream?.destroy?.(reason());
}

/** Ends a connection in the driver's own way, or without its server where that doesn't answer. */
export async function endOrSever(
  connection: Connection,
  end: () => unknown,
  clock: Clock,
): Promise<void> {
  const stopWaiting = clock.after(END_MILLIS, () => {
    sever(connection, () => new Error('The server did not end the connection.'));
  });
  try {
    await end();
  } finally {
    stopWaiting();
  }
}

import type { Connection } from '../hosts/host.ts';

/** The members of a `pg` client and of its protocol connection that a CancelRequest needs. */
interface Cancellable {
  readonly host: string;
  readonly port: number;
  readonly ssl: unknown;
  readonly sslNegotiation?: string | undefined;
  readonly processID: number | null;
  readonly secretKey: unknown;
}

interface ProtocolConnection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: unknown): void;
  on(event: 'connect' | 'sslconnect' | 'end', listener: () => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  readonly stream: { destroy(): void };
}

/** The part of `pg` that opens a connection of the protocol without a session. */
export interface CancellingDriver {
  readonly Connection: new (settings: object) => ProtocolConnection;
}

/**
 * Cancels what a connection is running, by PostgreSQL's CancelRequest to the server that runs it.
 *
 * Needs no session: it works where the pool is full, connections are used up, or a pooler renames
 * process ids. Resolves when the server has taken the request.
 */
export function sendCancelRequest(
  driver: CancellingDriver,
  running: Connection,
  timeoutMillis: number,
): Promise<void> {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = running as Cancellable;
  if (processID === null) return Promise.resolve();

  return new Promise((resolve, reject) => {
    const connection = new driver.Connection({ ssl, sslNegotiation });
    const timer = setTimeout(() => {
      connection.stream.destroy();
      reject(
        new Error(`${host}:${port} did not take the cancel request within ${timeoutMillis} ms`),
      );
    }, timeoutMillis);
    const cancel = (): void => connection.cancel(processID, secretKey);
    const settle = (end: () => void) => (): void => {
      clearTimeout(timer);
      end();
    };

    connection.on('connect', () => {
      if (!ssl) cancel();
      else if (sslNegotiation !== 'direct') connection.requestSsl();
    });
    connection.on('sslconnect', cancel);
    // The server answers with nothing but the end of the connection.
    connection.on('end', settle(resolve));
    connection.on('error', (error) => settle(() => reject(error))());

    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}

import type { EventEmitter } from 'events';
import type { Readable } from 'stream';
import { finished } from 'stream/promises';
import type { Connection } from '../hosts/host.ts';
import type { StreamRequest } from './internals.ts';

/** A `pg` client, as far as it tells that a statement is under way. */
interface Streaming extends EventEmitter {
  readonly readyForQuery?: boolean;
}

/** A stream of pg-query-stream, whose cursor keeps the error of its connection for the next read. */
interface CursorStream extends Readable {
  readonly cursor?: { readonly _error?: Error | null };
}

// As the driver says it.
const LOST = 'Connection terminated unexpectedly';

/**
 * Streams a statement as `send` does, and fails it once its connection is lost.
 *
 * Before it tells of an error, pg-cursor waits for the server to close the cursor: on a connection
 * that has ended, for ever.
 */
export async function streamUntilLost(
  connection: Connection,
  stream: StreamRequest['stream'],
  send: () => Promise<unknown>,
): Promise<unknown> {
  // A driver without events has none for the end either.
  if (!('on' in connection)) return send();

  let source: CursorStream | undefined;
  const onPipe = (piped: Readable): void => {
    source = piped;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above.
  const client = connection as Streaming;
  const onEnd = (): void => {
    // All rows may have come, and are yet to be read.
    if (source === undefined || source.closed || client.readyForQuery !== false) return;
    // oxlint-disable-next-line no-underscore-dangle -- pg-cursor's name.
    source.emit('error', source.errored ?? source.cursor?._error ?? new Error(LOST));
  };
  const forget = (): void => {
    stream.off('pipe', onPipe);
    client.off('end', onEnd);
  };
  stream.once('pipe', onPipe);
  client.once('end', onEnd);
  // Of one that is closed early, Knex never says that it ended.
  stream.once('close', forget);
  try {
    return await send();
  } catch (error) {
    // Knex 3.1 rejects with nothing when the server has told all: it hands its rejection to the
    // driver as a callback. The rows have yet to be read.
    if (error !== undefined && error !== null) throw error;
    return await finished(stream);
  } finally {
    forget();
    stream.off('close', forget);
  }
}

import { AsyncResource } from 'async_hooks';
import type { StreamRequest } from './internals.ts';

type Answer = (...answer: unknown[]) => void;

/** A stream of pg-query-stream, as far as its rows come many at a time. */
interface Source {
  readonly cursor?: { read?: (rows: number, callback: Answer) => unknown };
}

/**
 * Has the listeners of a stream run in the scope of the caller, ours and the application's own.
 *
 * The driver tells of rows in the scope of their connection, which is nobody's.
 */
export function listenHere(stream: StreamRequest['stream']): void {
  const here = new AsyncResource('knex-rwsplit');
  // oxlint-disable-next-line typescript/unbound-method -- called on its stream again.
  const { emit } = stream;
  const emitHere = function emitHere(event: string | symbol, ...args: unknown[]): boolean {
    // Whoever reads row by row, as `for await` does, has nobody to tell.
    if (event === 'data' && stream.listenerCount('data') === 0) return false;
    return here.runInAsyncScope(emit, stream, event, ...args);
  };
  stream.emit = emitHere;

  // To enter a scope takes as long as much else that is done for a row: once for all rows that
  // come at a time is enough.
  const deliver = (callback: Answer, answer: readonly unknown[]): void => {
    const isEntered = stream.emit === emitHere;
    if (isEntered) stream.emit = emit;
    try {
      callback(...answer);
    } finally {
      if (isEntered && stream.emit === emit) stream.emit = emitHere;
    }
  };
  stream.on('pipe', ({ cursor }: Source) => {
    const read = cursor?.read?.bind(cursor);
    if (cursor === undefined || read === undefined) return;
    cursor.read = (rows, callback) =>
      read(rows, (...answer) => here.runInAsyncScope(deliver, undefined, callback, answer));
  });
}

import type { Readable } from 'node:stream';
import type { Lease } from '../routing/lease.ts';
import { judgeRefusal } from '../routing/misroute.ts';
import type { CompiledStatement, StreamRequest } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import type { Send } from './statement.ts';
import { runStatement } from './statement.ts';

/**
 * Streams a statement where its lease says; what a replica refuses before its first row is
 * streamed by the primary instead, into the same stream.
 */
export function streamStatement(
  split: RWSplit,
  lease: Lease,
  statement: CompiledStatement,
  stream: StreamRequest['stream'],
  send: Send<unknown>,
): Promise<unknown> {
  if (!lease.mayRerun || lease.host.role !== 'replica') {
    return runStatement(split, lease, statement, send);
  }

  let source: Readable | undefined;
  stream.once('pipe', (piped: Readable) => {
    source = piped;
    piped.once('data', () => {
      lease.mayRerun = false;
    });
  });
  // Knex tells the stream of an error at once; a refusal that the primary may still answer to is
  // held back, and told only if it can't.
  const emit = stream.emit.bind(stream);
  let held: unknown;
  stream.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event === 'error' && lease.mayRerun && judgeRefusal(args[0]) !== 'none') {
      [held] = args;
      source?.unpipe(stream);
      return true;
    }
    return emit(event, ...args);
  };
  const restore = (): void => {
    stream.emit = emit;
  };

  return runStatement(split, lease, statement, send).then(
    (ended) => {
      restore();
      return ended;
    },
    (error: unknown) => {
      restore();
      if (error === held) stream.emit('error', error);
      throw error;
    },
  );
}

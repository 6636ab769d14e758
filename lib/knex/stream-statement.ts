import { errorMonitor } from 'events';
import type { Readable } from 'stream';
import type { Lease } from '../routing/lease.ts';
import { judgeStatementError } from '../routing/failure.ts';
import { planRerun } from '../routing/rerun.ts';
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
  if (lease.isGuarded) return runStatement(split, lease, statement, send, true);
  return intoStream(lease, stream, () => runStatement(split, lease, statement, send, true));
}

/** Lets a stream hear of its failure once, and of none that another host makes good. */
export function intoStream(
  lease: Lease,
  stream: StreamRequest['stream'],
  run: () => Promise<unknown>,
): Promise<unknown> {
  let source: Readable | undefined;
  let told: unknown;
  const note = (error: unknown): void => {
    told = error;
  };
  // Knex tells the stream of an error at once; a refusal that another host may still answer to is
  // held back, and told only if none can.
  // oxlint-disable-next-line typescript/unbound-method -- called on its stream again.
  const { emit } = stream;
  const holding = function holding(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'error' && mayRunAgain(lease, args[0])) {
      source?.unpipe(stream);
      return true;
    }
    return emit.call(stream, event, ...args);
  };
  // A stream emits several events for each row.
  const stopHolding = (): void => {
    if (stream.emit === holding) stream.emit = emit;
  };
  const watch = (piped: Readable): void => {
    source = piped;
    piped.once('data', () => {
      lease.mayRerun = false;
      lease.mayRetry = false;
      stopHolding();
    });
  };
  stream.emit = holding;
  stream.on(errorMonitor, note);
  // Each attempt has a source of its own.
  stream.on('pipe', watch);
  const restore = (): void => {
    stopHolding();
    stream.off(errorMonitor, note);
    stream.off('pipe', watch);
  };

  return run().then(
    (ended) => {
      restore();
      return ended;
    },
    (error: unknown) => {
      restore();
      // Knex tells nobody of what it takes for told.
      if (told === undefined) stream.emit('error', error);
      throw error;
    },
  );
}

function mayRunAgain(lease: Lease, error: unknown): boolean {
  return planRerun(lease, judgeStatementError(error, lease.hostRole)) !== undefined;
}

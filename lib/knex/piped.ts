import { systemClock } from '../clock.ts';
import type { Connection } from '../hosts/host.ts';
import { ask } from './question.ts';
import type { Beside, Piped } from './beside.ts';
import { behindMillis, pipelined, start } from './pipelined.ts';
import type { Pipelining } from './pipelined.ts';
import { fulfilled, rejected, settled, within } from './settled.ts';

/**
 * Sends a statement, and questions before and behind it, in one round trip where the driver can and
 * the connection is idle, else one after the other; resolves when all is answered that matters.
 */
export function piped<T>(
  connection: Connection,
  send: (connection: Connection) => Promise<T>,
  beside: Beside,
): Promise<Piped<T>> {
  const client = connection as Partial<Pipelining>;
  const isShared = beside.canShare && client.readyForQuery === true && isPipelining(client);
  return isShared ? pipelined(client, send, beside) : inTurn(connection, send, beside);
}

function isPipelining(client: Partial<Pipelining>): client is Pipelining {
  return client.pipeline !== undefined;
}

async function inTurn<T>(
  connection: Connection,
  send: (connection: Connection) => Promise<T>,
  { before, behind, mayGoOn, isOurs = () => true }: Beside,
): Promise<Piped<T>> {
  const first = before === undefined ? undefined : await ask(connection, before);
  const told = { before: fulfilled(first), refusal: rejected(first) };
  if (mayGoOn?.(told.before) === false) {
    return { ...told, result: undefined, behind: undefined, isBusy: false };
  }

  const result = await settled(start(send, connection));
  if (behind === undefined || !isOurs()) {
    return { ...told, result, behind: undefined, isBusy: false };
  }
  const last = await within(ask(connection, behind), behindMillis, systemClock);
  return {
    ...told,
    result,
    behind: fulfilled(last),
    refusal: told.refusal ?? rejected(last),
    isBusy: last === undefined,
  };
}

import { systemClock } from '../clock.ts';
import type { Connection } from '../hosts/host.ts';
import { Question } from './question.ts';
import type { Beside, Piped } from './beside.ts';
import { fulfilled, rejected, settled, within } from './settled.ts';

/** A `pg` client that can send a query while another one is to be answered, since 8.23. */
export interface Pipelining {
  /** Sends a query at once, whatever is still to be answered before it. */
  pipeline: boolean;
  readonly readyForQuery?: boolean | undefined;
  /** pg's own: what is being answered, and what was sent and is answered after it. */
  readonly _activeQuery?: Sent | null;
  readonly _sentQueryQueue?: readonly Sent[];
  readonly connection?: { readonly stream?: { cork?(): void; uncork?(): void } | undefined };
}

interface Sent {
  readonly text?: unknown;
}

// How long the answer to a statement is waited for that nobody wants any more: then its connection is
// worth less than the time.
const UNWANTED_MILLIS = 20;

/** How long a question behind a statement may take that is answered already. */
export const behindMillis = 1000;

/** Sends a statement, and questions before and behind it, all at once on an idle connection. */
export async function pipelined<T>(
  client: Pipelining,
  send: (connection: Connection) => Promise<T>,
  { text, before, behind, mayGoOn, isOurs = () => true }: Beside,
): Promise<Piped<T>> {
  // One that ends as this begins may have left it to be switched off.
  const isSwitched = !client.pipeline;
  if (isSwitched) client.pipeline = true;
  const stream = client.connection?.stream;
  let first: Question | undefined;
  let last: Question | undefined;
  let sent: Promise<PromiseSettledResult<T>> | undefined;
  let isLate = false;
  let isBusy = false;
  try {
    stream?.cork?.();
    try {
      if (before !== undefined) first = new Question(client, before);
      sent = settled(start(send, client));
      // One that is sent later, as by an application's own client class, must not be overtaken.
      isLate = lastSent(client)?.text !== text;
      if (!isLate && behind !== undefined) last = new Question(client, behind);
    } finally {
      stream?.uncork?.();
    }

    if (isLate) await sent;
    if (isLate && behind !== undefined && isOurs()) last = new Question(client, behind);
    if (mayGoOn !== undefined && !mayGoOn(fulfilled(await first?.settled))) {
      const all = Promise.all([sent, last?.settled]);
      const ended = await within(all, UNWANTED_MILLIS, systemClock);
      isBusy = ended === undefined;
      return {
        before: fulfilled(first?.outcome),
        result: ended?.[0],
        behind: undefined,
        refusal: rejected(first?.outcome),
        isBusy,
      };
    }

    const result = await sent;
    if (last !== undefined && last.outcome === undefined) {
      isBusy = (await within(last.settled, behindMillis, systemClock)) === undefined;
    }
    const asked = first && (await first.settled);
    return {
      before: fulfilled(asked),
      result,
      behind: fulfilled(last?.outcome),
      refusal: rejected(asked) ?? rejected(last?.outcome),
      isBusy,
    };
  } finally {
    const end = (): void => {
      if (isSwitched) client.pipeline = false;
    };
    // Switched off while something is on its way, the driver would lose count of the answers.
    if (isBusy) void Promise.all([first?.settled, sent, last?.settled]).then(end);
    else end();
  }
}

function lastSent({
  readyForQuery,
  _sentQueryQueue: queue,
  _activeQuery: active,
}: Pipelining): Sent | undefined {
  if (readyForQuery === true) return undefined;
  return queue?.at(-1) ?? active ?? undefined;
}

/** Sends a statement; what throws at once has not been sent. */
export function start<T>(
  send: (connection: Connection) => Promise<T>,
  connection: Connection,
): Promise<T> {
  try {
    return send(connection);
  } catch (error) {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- as it was thrown.
    return Promise.reject(error);
  }
}

import { systemClock } from '../clock.ts';
import type { Answer } from '../consistency/questions.ts';
import type { Connection } from '../hosts/host.ts';
import { asTexts, runQuery } from '../hosts/run-query.ts';
import { fulfilled, rejected, settled, within } from './settled.ts';

/** A `pg` client, as far as sharing a round trip needs it. */
interface Piping {
  /** Since pg 8.23: sends a query at once, whatever is still to be answered before it. */
  pipeline?: boolean | undefined;
  readonly readyForQuery?: boolean | undefined;
  /** pg's own: what is being answered, and what was sent and is answered after it. */
  readonly _activeQuery?: Sent | null;
  readonly _sentQueryQueue?: readonly Sent[];
}

interface Sent {
  readonly text?: unknown;
}

/** What is asked beside a statement, on its connection. */
export interface Beside {
  /** The text of the statement, as it reaches the driver. */
  readonly text: string;
  /** Asked before the statement. */
  readonly before?: string | undefined;
  /** Asked behind the statement. */
  readonly behind?: string | undefined;
  /** Whether all may be on their way at once; false for what keeps a portal, or copies. */
  readonly canShare: boolean;
  /** Whether the connection is still in use by the statement; a stream can be given up. */
  readonly isOurs?: (() => boolean) | undefined;
  /** Whether the statement is worth sending, or waiting for, after the answer to `before`. */
  readonly mayGoOn?: ((answer: Answer | undefined) => boolean) | undefined;
}

/** What a server answered to a statement and to what was asked beside it. */
export interface Piped<T> {
  /** Undefined where it was not asked, or not answered. */
  readonly before: Answer | undefined;
  /** Undefined where the statement was not sent, or is not worth waiting for. */
  readonly result: PromiseSettledResult<T> | undefined;
  readonly behind: Answer | undefined;
  /** Why a question was not answered. */
  readonly refusal: unknown;
  /** Something is still to be answered: the connection must be used for nothing else. */
  readonly isBusy: boolean;
}

// How long the answer to a statement is waited for that nobody wants any more: then its connection is
// worth less than the time.
const UNWANTED_MILLIS = 20;

// How long a question behind a statement may take that is answered already.
const BEHIND_MILLIS = 1000;

/**
 * Sends a statement, and questions before and behind it, in one round trip where the driver can and
 * the connection is idle, else one after the other; resolves when all is answered that matters.
 */
export async function piped<T>(
  connection: Connection,
  send: (connection: Connection) => Promise<T>,
  { text, before, behind, canShare, mayGoOn, isOurs = () => true }: Beside,
): Promise<Piped<T>> {
  // Whoever opened the connection made sure that it is one.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const client = connection as Piping;
  const isShared = canShare && client.readyForQuery === true && client.pipeline !== undefined;
  // One that ends as this begins may have left it to be switched off.
  const isSwitched = isShared && client.pipeline === false;
  if (isSwitched) client.pipeline = true;
  const asked: Promise<unknown>[] = [];
  let isBusy = false;
  try {
    const first = before === undefined ? undefined : settled(ask(connection, before));
    asked.push(Promise.resolve(first));
    if (!isShared && mayGoOn?.(fulfilled(await first)) === false) {
      return { ...nothing, before: fulfilled(await first), refusal: rejected(await first) };
    }

    const result = settled(start(send, connection));
    asked.push(result);
    // One that is sent later, as by an application's own client class, must not be overtaken.
    if (!isShared || lastSent(client)?.text !== text) await result;
    const last = behind === undefined || !isOurs() ? undefined : settled(ask(connection, behind));
    asked.push(Promise.resolve(last));
    if (isShared && mayGoOn?.(fulfilled(await first)) === false) {
      const ended = await within(Promise.all([result, last]), UNWANTED_MILLIS, systemClock);
      isBusy = ended === undefined;
      return {
        ...nothing,
        before: fulfilled(await first),
        result: ended?.[0],
        refusal: rejected(await first),
        isBusy,
      };
    }

    const outcome = await result;
    const answer = last && (await within(last, BEHIND_MILLIS, systemClock));
    isBusy = last !== undefined && answer === undefined;
    return {
      before: fulfilled(await first),
      result: outcome,
      behind: fulfilled(answer),
      refusal: rejected(await first) ?? rejected(answer),
      isBusy,
    };
  } finally {
    const end = (): void => {
      if (isSwitched) client.pipeline = false;
    };
    // Switched off while something is on its way, the driver would lose count of the answers.
    if (isBusy) void Promise.all(asked).then(end);
    else end();
  }
}

const nothing = {
  before: undefined,
  result: undefined,
  behind: undefined,
  refusal: undefined,
  isBusy: false,
} as const;

/** Asks a server something on a connection that is in nobody else's use. */
export async function ask(connection: Connection, text: string): Promise<Answer | undefined> {
  const [row] = await runQuery(connection, { text, types: asTexts });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its values were not parsed.
  return row as Answer | undefined;
}

function lastSent({
  readyForQuery,
  _sentQueryQueue: queue,
  _activeQuery: active,
}: Piping): Sent | undefined {
  if (readyForQuery === true) return undefined;
  return queue?.at(-1) ?? active ?? undefined;
}

// What throws at once has not been sent.
async function start<T>(
  send: (connection: Connection) => Promise<T>,
  connection: Connection,
): Promise<T> {
  return send(connection);
}

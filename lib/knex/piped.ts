import type { Answer } from '../consistency/questions.ts';
import type { Connection } from '../hosts/host.ts';

/** A `pg` client, as far as sharing a round trip needs it. */
interface Piping {
  /** Since pg 8.23: sends a query at once, whatever is still to be answered before it. */
  pipeline?: boolean | undefined;
  readonly readyForQuery?: boolean | undefined;
  /** pg's own: what was sent and is not yet being answered. */
  readonly _sentQueryQueue?: readonly unknown[];
  query(question: Question): Promise<{ readonly rows: readonly Answer[] }>;
}

interface Question {
  readonly text: string;
  readonly types: { getTypeParser(): (text: unknown) => unknown };
}

/** What is asked beside a statement, on its connection. */
export interface Beside {
  /** Asked before the statement. */
  readonly before?: string | undefined;
  /** Asked behind the statement. */
  readonly behind?: string | undefined;
  /** Whether all may be on their way at once; false for what keeps a portal, or copies. */
  readonly canShare: boolean;
  /** Whether the connection is still in use by the statement; a stream can be given up. */
  readonly isOurs?: (() => boolean) | undefined;
  /** Whether the statement is worth sending, where the answer to `before` is there first. */
  readonly mayGoOn?: ((answer: Answer | undefined) => boolean) | undefined;
}

/** What a server answered to a statement and to what was asked beside it. */
export interface Piped<T> {
  /** Undefined where it was not asked, or not answered. */
  readonly before: Answer | undefined;
  /** Undefined where the statement was not sent. */
  readonly result: PromiseSettledResult<T> | undefined;
  readonly behind: Answer | undefined;
  /** Why a question was not answered. */
  readonly refusal: unknown;
}

// As the server writes it, whatever an application made of the driver's types.
const types = { getTypeParser: () => (text: unknown) => text };

/**
 * Sends a statement, and questions before and behind it, in one round trip where the driver can and
 * the connection is idle, else one after the other; resolves when all are answered.
 */
export async function piped<T>(
  connection: Connection,
  send: (connection: Connection) => Promise<T>,
  { before, behind, canShare, mayGoOn, isOurs = () => true }: Beside,
): Promise<Piped<T>> {
  // Whoever opened the connection made sure that it is one.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const client = connection as Piping;
  const isShared = canShare && client.readyForQuery === true && client.pipeline !== undefined;
  // One that ends as this begins may have left it to be switched off.
  const isSwitched = isShared && client.pipeline === false;
  if (isSwitched) client.pipeline = true;
  try {
    const first = before === undefined ? undefined : settled(ask(client, before));
    if (!isShared && mayGoOn !== undefined) {
      const answer = await first;
      if (!mayGoOn(valueOf(answer)))
        return {
          before: valueOf(answer),
          result: undefined,
          behind: undefined,
          refusal: reasonOf(answer),
        };
    }

    const result = settled(start(send, connection));
    // One that is sent later, as by an application's own client class, must not be overtaken.
    if (!isShared || !isSent(client, first !== undefined)) await result;
    const last = behind === undefined || !isOurs() ? undefined : settled(ask(client, behind));
    const answers = await Promise.all([first, result, last]);
    return {
      before: valueOf(answers[0]),
      result: answers[1],
      behind: valueOf(answers[2]),
      refusal: reasonOf(answers[0]) ?? reasonOf(answers[2]),
    };
  } finally {
    if (isSwitched) client.pipeline = false;
  }
}

/** Asks a server something on a connection that is in nobody else's use. */
export async function ask(connection: Connection, text: string): Promise<Answer | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above.
  const { rows } = await (connection as Piping).query({ text, types });
  return rows[0];
}

// The first one sent is being answered, and those behind it are queued.
function isSent(client: Piping, hasOneBefore: boolean): boolean {
  if (client.readyForQuery === true) return false;
  // oxlint-disable-next-line no-underscore-dangle -- pg's name.
  return !hasOneBefore || (client._sentQueryQueue ?? []).length > 0;
}

// What throws at once has not been sent.
async function start<T>(
  send: (connection: Connection) => Promise<T>,
  connection: Connection,
): Promise<T> {
  return send(connection);
}

async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  try {
    return { status: 'fulfilled', value: await promise };
  } catch (reason) {
    return { status: 'rejected', reason };
  }
}

function valueOf(answer: PromiseSettledResult<Answer | undefined> | undefined): Answer | undefined {
  return answer?.status === 'fulfilled' ? answer.value : undefined;
}

function reasonOf(answer: PromiseSettledResult<unknown> | undefined): unknown {
  return answer?.status === 'rejected' ? answer.reason : undefined;
}

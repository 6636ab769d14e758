const HEAD_BYTES = 5;
const READY_BYTES = 6;
const SYNC = 'S'.charCodeAt(0);
const QUERY = 'Q'.charCodeAt(0);

/** The type of the message by which a server says that it is done. */
export const READY: number = 'Z'.charCodeAt(0);

/** How many messages of some types there are in whole messages of the protocol. */
export function countMessages(messages: Buffer, ...types: readonly number[]): number {
  let count = 0;
  let at = 0;
  while (at + HEAD_BYTES <= messages.length) {
    if (types.includes(messages[at] ?? 0)) count++;
    at += 1 + messages.readUInt32BE(at + 1);
  }
  return count;
}

/** How often the server will say that it is done with what it is sent. */
export function requestsOf(messages: Buffer): number {
  return countMessages(messages, SYNC, QUERY);
}

/** Whether a server has just said that it is done. */
export function endsReady(messages: Buffer): boolean {
  return messages.at(-READY_BYTES) === READY && messages.at(-READY_BYTES + 1) === 0;
}

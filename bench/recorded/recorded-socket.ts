import { Socket } from 'node:net';
import { countMessages, endsReady, READY, requestsOf } from './messages.ts';

/** Answers of a server, by what was sent and the state of the transaction then. */
export type Recording = Map<string, Buffer>;

type Done = (error?: Error | null) => void;

/**
 * A connection to a server that is asked everything once: what was sent before is answered from
 * memory, so that all time that passes is the client's own.
 */
export class RecordedSocket extends Socket {
  readonly #recording: Recording;
  /** The state of the transaction, as the server last told; undefined until it is connected. */
  #state: number | undefined;
  #asked: { readonly key: string; readonly answers: number } | undefined;
  #received: Buffer[] = [];

  constructor(recording: Recording) {
    super();
    this.#recording = recording;
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: Done): void {
    // oxlint-disable-next-line no-underscore-dangle -- Node's name.
    this.#send(chunk, done, () => super._write(chunk, encoding, done));
  }

  override _writev(chunks: { chunk: Buffer; encoding: BufferEncoding }[], done: Done): void {
    const whole = Buffer.concat(chunks.map(({ chunk }) => chunk));
    // oxlint-disable-next-line no-underscore-dangle -- Node's name.
    this.#send(whole, done, () => super._writev?.(chunks, done));
  }

  #send(request: Buffer, done: Done, send: () => void): void {
    const answers = this.#state === undefined ? 0 : requestsOf(request);
    if (answers === 0) return send();

    const key = `${this.#state}${request.toString('latin1')}`;
    const known = this.#recording.get(key);
    if (known === undefined) {
      this.#asked = { key, answers };
      return send();
    }
    done();
    setImmediate(() => {
      this.#state = known.at(-1);
      super.push(known);
    });
  }

  override push(chunk: Buffer | null): boolean {
    if (chunk !== null) this.#receive(chunk);
    return super.push(chunk);
  }

  #receive(chunk: Buffer): void {
    this.#received.push(Buffer.from(chunk));
    const whole = Buffer.concat(this.#received);
    if (!endsReady(whole)) return;
    if (this.#asked !== undefined) {
      if (countMessages(whole, READY) < this.#asked.answers) return;
      this.#recording.set(this.#asked.key, whole);
      this.#asked = undefined;
    }
    this.#received = [];
    this.#state = whole.at(-1);
  }
}

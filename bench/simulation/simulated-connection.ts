import { EventEmitter } from 'node:events';

/** A connection to a simulated server, in the shape of a `pg` client. */
export class SimulatedConnection extends EventEmitter {
  readonly processID = 7;
  readonly connection: { readonly stream: { readonly destroy: (error?: Error) => void } };
  #fail: ((error: Error) => void) | undefined;
  #hasEnded = false;

  /** @param onEnd told when it ends, whoever ends it. */
  constructor(onEnd: () => void) {
    super();
    const destroy = (error?: Error): void => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      onEnd();
      this.#fail?.(error ?? new Error('Connection terminated'));
      this.emit('end');
    };
    this.connection = { stream: { destroy } };
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Ends it; what waits for an answer by it fails. */
  end(error?: Error): void {
    this.connection.stream.destroy(error);
  }

  /** Waits for an answer, which `ask` passes on to its argument, or for the end. */
  wait<T>(ask: (answer: (value: T) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      ask(resolve);
    });
  }
}

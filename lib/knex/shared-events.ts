import type { RWSplitEvents } from '../events.ts';
import { RWSplitEmitter } from '../events.ts';

/** Tells what happens to shared hosts to the listeners of each client. */
export class SharedEvents extends RWSplitEmitter {
  readonly #emitters: () => readonly RWSplitEmitter[];

  constructor(emitters: () => readonly RWSplitEmitter[]) {
    super();
    this.#emitters = emitters;
  }

  override tell<E extends keyof RWSplitEvents>(event: E, about: RWSplitEvents[E][0]): void {
    for (const emitter of this.#emitters()) emitter.tell(event, about);
  }
}

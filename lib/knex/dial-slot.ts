import { AsyncLocalStorage } from 'async_hooks';
import type { ServerSlot } from '../hosts/server-slot.ts';

const storage = new AsyncLocalStorage<ServerSlot>();

/** Runs `dial`, whose clients take the place of `slot`, where there is one. */
export function inSlot<T>(slot: ServerSlot | undefined, dial: () => T): T {
  return slot === undefined ? dial() : storage.run(slot, dial);
}

/** The place that a client takes which is made now. */
export function dialSlot(): ServerSlot | undefined {
  return storage.getStore();
}

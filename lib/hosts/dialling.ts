import { addressOf } from './dialled-address.ts';
import type { DialledAddress } from './dialled-address.ts';
import type { Connection } from './host.ts';
import type { ErrorOfOne } from './sever.ts';
import { sever } from './sever.ts';

/** The connections of a pool that are being opened. */
export class Dialling {
  readonly #connections = new Set<Connection>();
  #address: DialledAddress | undefined;

  /** Where the last of them was dialled; functions and lists of hosts may change it. */
  get address(): DialledAddress | undefined {
    return this.#address;
  }

  /** Notes that a connection begins to open. */
  begin(connection: Connection): void {
    this.#connections.add(connection);
    this.#address = addressOf(connection) ?? this.#address;
  }

  /** Notes that a connection is open, or has failed to open. */
  finish(connection: Connection): void {
    this.#connections.delete(connection);
  }

  /** Ends all of them, which then fail to open. */
  giveUp(reason: ErrorOfOne): void {
    for (const connection of this.#connections) sever(connection, reason);
    this.#connections.clear();
  }
}

import { LRUCache } from 'lru-cache';
import type { Connection } from '../hosts/host.ts';

// Texts are warned about once; a program that writes a new one each time is warned this often.
const MAX_TEXTS = 500;

/** Connections whose session was changed by a statement, and what was said about it. */
export class SessionChanges {
  readonly #changed: WeakSet<Connection>;
  readonly #warned = new LRUCache<string, true>({ max: MAX_TEXTS });
  readonly #warn: (message: string) => void;

  /** @param changed the connections of the same pools that others have changed, too. */
  constructor(warn: (message: string) => void, changed: WeakSet<Connection> = new WeakSet()) {
    this.#warn = warn;
    this.#changed = changed;
  }

  /** Whether a connection must not be handed out again. */
  has(connection: Connection): boolean {
    return this.#changed.has(connection);
  }

  /** Takes a connection out of use once it is given back, without a word. */
  spoil(connection: Connection): void {
    this.#changed.add(connection);
  }

  /**
   * Takes a connection out of use once it is given back, and warns once for each text.
   *
   * @param isShared whether a pooler may give the session to others, whatever becomes of the connection.
   */
  note(connection: Connection, change: string, text: string, isShared = false): void {
    this.#changed.add(connection);
    if (this.#warned.has(text)) return;

    this.#warned.set(text, true);
    const [effect, declared] = isShared
      ? ['a pooler seems to stand before its server, and may give that session to anybody next', '']
      : [
          'its connection is closed instead of reused, so the next query does not see the change',
          ', or say what every statement needs: rwSplit(db).withState(), or the option rwSplit.state',
        ];
    this.#warn(
      `A raw statement changed the state of one pooled session (${change}); ${effect}: ${shorten(text)}. ` +
        `Use SET LOCAL in knex.transaction()${declared}.`,
    );
  }
}

// A literal may be a secret.
function shorten(text: string): string {
  const bare = text.slice(0, 1000).replaceAll(/'(?:[^']|'')*'?/g, "'…'");
  return bare.length > 120 ? `${bare.slice(0, 117)}...` : bare;
}

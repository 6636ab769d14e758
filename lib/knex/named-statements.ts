import type { Connection } from '../hosts/host.ts';

/** The messages of `pg`'s connection that named statements need, and what it notes of them. */
interface NamingWire {
  readonly stream: { cork?(): void; uncork?(): void };
  /** The texts by name, as far as the server has them. */
  readonly parsedStatements?: Record<string, unknown>;
  /** Newer ones: those under way. */
  readonly submittedNamedStatements?: Record<string, unknown> | undefined;
  on(event: 'bindComplete', listener: () => void): unknown;
  /** Of `pg` 8.0, which writes all its messages into one buffer. */
  readonly writer?: unknown;
  /** @param more has `pg` 8.0 send it with what follows. */
  close(message: { readonly type: 'S'; readonly name: string }, more: true): void;
}

interface NamingClient {
  readonly connection?: NamingWire;
  readonly readyForQuery?: boolean;
  readonly pipeline?: boolean;
  readonly _activeQuery?: { readonly name?: unknown } | null;
  /** As older ones call it. */
  readonly activeQuery?: { readonly name?: unknown } | null;
  getTransactionStatus?(): string | null;
}

/** The statements that one connection has by name, the one used last at the end. */
export class NamedStatements {
  readonly #client: NamingClient;
  readonly #wire: NamingWire;
  readonly #preparedAt = new Map<string, number>();
  #sent = '';
  #isBound = false;

  constructor(client: NamingClient, wire: NamingWire) {
    this.#client = client;
    this.#wire = wire;
    wire.on('bindComplete', () => {
      // What brings the session into its state binds values, too.
      const active = '_activeQuery' in client ? client._activeQuery : client.activeQuery;
      if (active?.name === this.#sent) this.#isBound = true;
    });
  }

  /** Whether what is sent is the next that the server reads, and a failure of it harms nothing else. */
  get areUsable(): boolean {
    const { readyForQuery, pipeline } = this.#client;
    if (readyForQuery !== true && pipeline !== true) return false;
    return (this.#client.getTransactionStatus?.() ?? 'I') === 'I';
  }

  /** Whether the server executed what was sent last, or may have: it takes the values right before. */
  get mayHaveRun(): boolean {
    return this.#isBound;
  }

  /**
   * Sends what has a name; one that the server has no room for, or for too long, is closed on the
   * way there.
   *
   * @param max how many the server keeps at most.
   * @param staleAt one that was prepared then, or before, is prepared again.
   */
  send<T>(name: string, max: number, staleAt: number, now: number, send: () => T): T {
    const preparedAt = this.#preparedAt.get(name);
    this.#sent = name;
    this.#isBound = false;
    this.#preparedAt.delete(name);
    if (preparedAt !== undefined && preparedAt > staleAt) {
      this.#preparedAt.set(name, preparedAt);
      return send();
    }

    const { stream, writer } = this.#wire;
    // Held back, what is in that buffer would be overwritten.
    const isCorked = writer === undefined;
    if (isCorked) stream.cork?.();
    try {
      if (preparedAt !== undefined) this.#close(name);
      for (const oldest of this.#preparedAt.keys()) {
        if (this.#preparedAt.size < max) break;
        this.#preparedAt.delete(oldest);
        this.#close(oldest);
      }
      this.#preparedAt.set(name, now);
      return send();
    } finally {
      if (isCorked) stream.uncork?.();
    }
  }

  /** Forgets what the server doesn't have, though it should. */
  forget(): void {
    for (const name of this.#preparedAt.keys()) this.#forget(name);
    this.#preparedAt.clear();
  }

  #close(name: string): void {
    this.#forget(name);
    this.#wire.close({ type: 'S', name }, true);
  }

  #forget(name: string): void {
    const { parsedStatements, submittedNamedStatements } = this.#wire;
    for (const texts of [parsedStatements, submittedNamedStatements]) {
      if (texts !== undefined) Reflect.deleteProperty(texts, name);
    }
  }
}

const known = new WeakMap<Connection, NamedStatements | null>();

/** The named statements of a connection; null where its driver doesn't tell of them. */
export function namedStatementsOf(connection: Connection): NamedStatements | null {
  const found = known.get(connection);
  if (found !== undefined) return found;

  // Whoever opened the connection made sure that it is one.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const client = connection as NamingClient;
  const { connection: wire } = client;
  const made = wire?.parsedStatements === undefined ? null : new NamedStatements(client, wire);
  known.set(connection, made);
  return made;
}

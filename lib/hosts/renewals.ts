/** Which connections of a pool are of a time before their host changed, and go to nobody else. */
export class Renewals<C extends object> {
  readonly #outdated = new WeakSet<C>();
  #count = 0;

  /** Whether a connection is to be ended instead of used again. */
  isOutdated(connection: C): boolean {
    return this.#outdated.has(connection);
  }

  /** Outdates connections, and those that are being opened. */
  renew(connections: readonly C[]): void {
    this.#count++;
    for (const connection of connections) this.#outdated.add(connection);
  }

  /** Opens a connection, which may be outdated by the time that it is open. */
  async open(create: () => Promise<C>): Promise<C> {
    const count = this.#count;
    const connection = await create();
    if (count !== this.#count) this.#outdated.add(connection);
    return connection;
  }
}

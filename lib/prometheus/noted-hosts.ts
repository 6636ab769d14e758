/** The hosts that have series of their own, so that those of hosts that left can be dropped. */
export class NotedHosts {
  readonly #names = new Set<string>();

  note(name: string): void {
    this.#names.add(name);
  }

  /**
   * Forgets the hosts that are not among `present`, and returns their names.
   *
   * @param present undefined where it is not known which hosts there are.
   */
  takeGone(present: readonly string[] | undefined): readonly string[] {
    if (present === undefined) return [];
    const gone = [...this.#names].filter((name) => !present.includes(name));
    for (const name of gone) this.#names.delete(name);
    return gone;
  }
}

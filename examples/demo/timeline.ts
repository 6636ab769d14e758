/** Tells what happens, with the seconds since the shop opened. */
export class Timeline {
  readonly #openedAt = Date.now();
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Something that the demo did. */
  tell(what: string): void {
    const seconds = ((Date.now() - this.#openedAt) / 1000).toFixed(1);
    this.#print(`${seconds.padStart(6)} s  ${what}`);
  }

  /** Something that the library noticed. */
  hear(event: string, what: string): void {
    this.tell(`  ${event.padEnd(11)} ${what}`);
  }
}

/** Tells what happens, with the seconds since the shop opened. */
export class Timeline {
  readonly #openedAt = Date.now();
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** The seconds so far, as they are shown. */
  get time(): string {
    const seconds = (Date.now() - this.#openedAt) / 1000;
    return `${seconds.toFixed(1).padStart(6)} s`;
  }

  /** Something that the demo did. */
  tell(what: string): void {
    this.#print(`${this.time}  ${what}`);
  }

  /** Something that the library noticed. */
  hear(event: string, what: string): void {
    this.tell(`  ${event.padEnd(11)} ${what}`);
  }
}

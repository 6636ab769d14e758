import { drawLine, drawTable, type Tallies } from './table.ts';

/** Shows the counts while they grow: redrawn in a terminal, a line now and then in a pipe. */
export class Display {
  readonly #output: NodeJS.WriteStream;
  readonly #startedAt = Date.now();
  #drawnLines = 0;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  show(tallies: Tallies): void {
    if (!this.#output.isTTY) {
      const seconds = ((Date.now() - this.#startedAt) / 1000).toFixed(1);
      this.#output.write(`${seconds.padStart(6)} s  ${drawLine(tallies)} statements\n`);
      return;
    }

    this.#clear();
    const table = drawTable(tallies);
    this.#output.write(`\n${table}\n`);
    this.#drawnLines = table.split('\n').length + 1;
  }

  /** Prints a line that stays, above the counts. */
  print(line: string): void {
    this.#clear();
    this.#output.write(`${line}\n`);
  }

  #clear(): void {
    if (this.#drawnLines === 0) return;

    this.#output.moveCursor(0, -this.#drawnLines);
    this.#output.cursorTo(0);
    this.#output.clearScreenDown();
    this.#drawnLines = 0;
  }
}

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
      const seconds = Math.round((Date.now() - this.#startedAt) / 1000);
      this.#output.write(`${seconds} s: ${drawLine(tallies)} statements\n`);
      return;
    }

    const table = drawTable(tallies);
    if (this.#drawnLines > 0) this.#output.moveCursor(0, -this.#drawnLines);
    this.#output.cursorTo(0);
    this.#output.clearScreenDown();
    this.#output.write(`${table}\n`);
    this.#drawnLines = table.split('\n').length;
  }
}

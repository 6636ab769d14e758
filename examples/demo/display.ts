import { drawLine, drawTable, type Tallies } from './table.ts';

/** Shows the counts while they grow: redrawn in a terminal, a line now and then in a pipe. */
export class Display {
  readonly #output: NodeJS.WriteStream;
  #drawnLines = 0;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  /** @param time when the counts were taken, as the timeline writes it. */
  show(tallies: Tallies, time: string): void {
    if (!this.#output.isTTY) {
      this.#output.write(`${time}  ${drawLine(tallies)} statements\n`);
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

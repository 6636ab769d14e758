/** Prints a ratio, and what it was made of. */
export function report(name: string, ratio: number, more: string): void {
  console.log(`  ${name.padEnd(45)} ${ratio.toFixed(2)}  (${more})`);
}

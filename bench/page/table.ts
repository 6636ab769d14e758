/** A table of Markdown; all columns but the first are numbers. */
export function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const alignments = titles.map((_, column) => (column === 0 ? '---' : '---:'));
  return [titles, alignments, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

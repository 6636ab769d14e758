/** Finds the known name that a misspelt one most likely means. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;

  for (const candidate of known) {
    const edits = countSlips(name.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) {
      nearest = candidate;
      fewest = edits;
    }
  }

  return nearest;
}

// A name that breaks off is that name, however much is missing: `maxAge` means `maxAgeMillis`.
function countSlips(name: string, candidate: string): number {
  const isBeginning = name.length >= 3 && candidate.startsWith(name) && name !== candidate;
  return isBeginning ? 1 : countEdits(name, candidate);
}

// Levenshtein's distance, one row of its table at a time.
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);

  for (const [line, letter] of from.split('').entries()) {
    const next = [line + 1];
    for (const [column, other] of to.split('').entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }

  return row.at(-1) ?? 0;
}

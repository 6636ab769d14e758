// How many are compared before one is taken.
const MOST_LOOKS = 32;

/** Moves the cheapest of the last idle connections to the end of their list, of equal ones the last. */
export function preferLast<C>(
  free: { readonly resource: C }[],
  cost: ((connection: C) => number) | undefined,
): void {
  if (cost === undefined) return;
  const end = free.length;
  let best = end - 1;
  let least = Number.POSITIVE_INFINITY;
  for (let at = best; at >= Math.max(0, end - MOST_LOOKS) && least > 0; at--) {
    const entry = free[at];
    const price = entry === undefined ? least : cost(entry.resource);
    if (price < least) [best, least] = [at, price];
  }
  if (best < end - 1) free.push(...free.splice(best, 1));
}

/** The value that so large a part of all values does not exceed: 0.5 is the median. */
export function quantileOf(values: readonly number[], quantile: number): number {
  const place = Math.min(values.length - 1, Math.floor(values.length * quantile));
  return values.toSorted((one, other) => one - other)[place] ?? Number.NaN;
}

/** A median, with what half of the values lie between. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** The median of values and their quartiles. */
export function spreadOf(values: readonly number[]): Spread {
  return {
    median: quantileOf(values, 0.5),
    low: quantileOf(values, 0.25),
    high: quantileOf(values, 0.75),
  };
}

/** A median with its quartiles in brackets: `1.07 (1.03–1.12)`. */
export function formatSpread({ median, low, high }: Spread): string {
  return `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
}

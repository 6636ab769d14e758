import { formatSpread, type Spread } from '../quantile.ts';

/** What was held against a limit. */
export interface Check {
  readonly what: string;
  readonly value: number;
  /** What the value is the median of, where it is one of many rounds. */
  readonly spread?: Spread;
  /** The limit in words: `at most 0.90`. */
  readonly limit: string;
  readonly isMet: boolean;
  /** The library that is compared with, where it is one of many. */
  readonly peer?: string | undefined;
  /** Why it is missed, where that is known and accepted. */
  readonly reason?: string | undefined;
}

/** Holds a value against a limit. */
export type Limit = (what: string, value: number) => Check;

/** The limit that a value is no more than. */
export function atMost(limit: number): Limit {
  return (what, value) => ({ what, value, limit: `at most ${limit}`, isMet: value <= limit });
}

/** The limit that a value is no less than. */
export function atLeast(limit: number): Limit {
  return (what, value) => ({ what, value, limit: `at least ${limit}`, isMet: value >= limit });
}

/** The value, with its spread where there is one. */
export function formatValue({ value, spread }: Check): string {
  return spread ? formatSpread(spread) : value.toFixed(2);
}

/** Prints checks, and answers whether each one is met, or missed for a known reason. */
export function reportChecks(checks: readonly Check[]): boolean {
  console.log('\nLimits:');
  for (const check of checks) {
    const { what, limit, isMet, reason } = check;
    const verdict = isMet ? 'ok    ' : reason === undefined ? 'MISSED' : 'known ';
    console.log(
      `  ${verdict} ${what}: ${formatValue(check)}, ${limit}${!isMet && reason ? ` (${reason})` : ''}`,
    );
  }
  return checks.every(({ isMet, reason }) => isMet || reason !== undefined);
}

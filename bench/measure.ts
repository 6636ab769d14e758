/** One way to do something, of several that are compared. */
export interface Contender {
  readonly name: string;
  readonly run: () => PromiseLike<unknown>;
}

/** How {@link compare} measures. */
export interface Rounds {
  readonly rounds: number;
  /** How often each contender runs in a round. */
  readonly times: number;
  /** What is counted, in any unit. */
  readonly meter: () => number;
  /** Which round counts: 0 is the cheapest, 0.5 the median. Where others disturb, a low one tells more. */
  readonly quantile: number;
}

/** The meter of time, in milliseconds. */
export function elapsed(): number {
  return performance.now();
}

/** The meter of this process's own work, in milliseconds. */
export function worked(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Measures contenders in turn, so that whatever else the machine does happens to all of them.
 *
 * @returns what each needs for one run, in the round that counts.
 */
export async function compare<Name extends string>(
  contenders: readonly (Contender & { readonly name: Name })[],
  { rounds, times, meter, quantile }: Rounds,
): Promise<Record<Name, number>> {
  const measured = new Map<Name, number[]>(contenders.map(({ name }) => [name, []]));
  // The first round warms up what is compiled late, and does not count.
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? contenders : contenders.toReversed();
    for (const { name, run } of order) {
      const begin = meter();
      for (let time = 0; time < times; time++) await run();
      if (round > 0) measured.get(name)?.push((meter() - begin) / times);
    }
  }
  const results = [...measured].map(
    ([name, values]) => [name, quantileOf(values, quantile)] as const,
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries() forgets the names
  return Object.fromEntries(results) as Record<Name, number>;
}

function quantileOf(values: readonly number[], quantile: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * quantile)] ?? 0;
}

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
 * @returns the median of what each needs for one run.
 */
export async function compare<Name extends string>(
  contenders: readonly (Contender & { readonly name: Name })[],
  { rounds, times, meter }: Rounds,
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
  const medians = [...measured].map(([name, values]) => [name, median(values)] as const);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries() forgets the names
  return Object.fromEntries(medians) as Record<Name, number>;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

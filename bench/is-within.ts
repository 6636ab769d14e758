import { compare, elapsed } from './measure.ts';
import { report } from './report.ts';

/** Work, under a name. */
export type Named = readonly [name: string, run: () => Promise<unknown>];

/** Compares how long work takes beside other work, prints it, and says whether the ratio is allowed. */
export async function isWithin(
  allowedRatio: number,
  name: string,
  [base, runBase]: Named,
  [more, runMore]: Named,
): Promise<boolean> {
  const needed = await compare(
    [
      { name: base, run: runBase },
      { name: more, run: runMore },
    ],
    { rounds: 300, times: 1, meter: elapsed, quantile: 0.1 },
  );
  const millis = needed[more] ?? Number.NaN;
  const ratio = millis / (needed[base] ?? Number.NaN);
  report(name, ratio, `${millis.toFixed(2)} ms, at most ${allowedRatio}`);
  return ratio <= allowedRatio;
}

import type { Cluster } from '../lib/testing/index.ts';
import type { Results } from './results/section.ts';

/** What a bench is run with. */
export interface BenchRun {
  /** Whether everything is done a few times only, to see that it works: its figures tell nothing. */
  readonly isSmoke: boolean;
  /** A primary and two replicas, started with the first call. */
  readonly cluster: () => Promise<Cluster>;
  /** Keeps what was measured, for `bench/results.json` and `docs/performance.md`. */
  readonly keep: (results: Results) => void;
}

/** Measures something and prints it; answers whether it is within its limits. */
export type Bench = (run: BenchRun) => Promise<boolean>;

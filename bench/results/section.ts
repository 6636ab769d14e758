import type { PairEffort } from '../head-to-head.ts';
import type { Check } from './check.ts';
import type { Place } from './place.ts';
import type { Spread } from '../quantile.ts';
import type { Cell, Effort } from '../rounds.ts';

/** What is kept of every bench. */
interface Section {
  readonly place: Place;
  readonly checks: readonly Check[];
}

/** What one subject needed for one query. */
export interface QueryFigure extends Cell {
  readonly subject: string;
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly p50Millis: number;
  readonly p99Millis: number;
  readonly loopDelayMillis: number;
  /** To plain Knex in the same round. */
  readonly throughputRatio: Spread;
  /** To plain Knex in the same round. */
  readonly cpuRatio: Spread;
}

/** What one subject allocates on the heap for one query. */
export interface Allocation {
  readonly subject: string;
  readonly query: string;
  readonly bytes: number;
}

/** Something that could not be measured. */
export interface Skipped {
  readonly subject: string;
  readonly why: string;
}

/** How many rounds all subjects were measured in, at one load. */
export interface TableLoad {
  readonly concurrency: number;
  readonly rounds: number;
  readonly streamRounds: number;
}

/** All subjects side by side. */
export interface QueriesSection extends Section {
  readonly loads: readonly TableLoad[];
  /** How long each subject had in a round. */
  readonly millis: number;
  /** How long those were measured that a limit compares. */
  readonly pairs: PairEffort;
  readonly figures: readonly QueryFigure[];
  readonly allocations: readonly Allocation[];
  readonly skipped: readonly Skipped[];
}

/** What one judgement of a text costs. */
export interface ClassificationFigure {
  readonly kind: string;
  readonly when: 'first sight' | 'seen before' | 'its shape seen before';
  readonly micros: Spread;
}

/** How long it takes to tell what a text needs. */
export interface ClassificationSection extends Section {
  readonly figures: readonly ClassificationFigure[];
}

/** The memory in use after so many distinct texts. */
export interface MemoryFigure {
  readonly statements: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly residentBytes: number;
}

/** What texts that never come again leave behind. */
export interface MemorySection extends Section {
  readonly figures: readonly MemoryFigure[];
}

/** What one subject needs for one query where servers cost no time. */
export interface ClientFigure {
  readonly query: string;
  readonly subject: string;
  readonly micros: number;
  /** To plain Knex in the same round. */
  readonly ratio: Spread;
}

/** What a query costs in the client alone. */
export interface ClientSection extends Section, Effort {
  readonly figures: readonly ClientFigure[];
}

/** What is kept, by the names of the benches. */
export interface Results {
  readonly queries?: QueriesSection;
  readonly client?: ClientSection;
  readonly classification?: ClassificationSection;
  readonly memory?: MemorySection;
}

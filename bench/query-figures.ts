import type { Sample } from './load.ts';
import { quantileOf, type Spread, spreadOf } from './quantile.ts';
import type { QueryFigure } from './results/section.ts';
import type { Cell, Samples } from './rounds.ts';
import { plainKnex } from './subjects/knex-subjects.ts';

/** One of the measures of a sample. */
export type Measure = keyof Sample;

/** What the rounds say of each subject. */
export function figuresOf(cell: Cell, samples: Samples): QueryFigure[] {
  return [...samples].map(([subject, own]) => {
    const median = (measure: Measure): number =>
      quantileOf(
        own.map((sample) => sample[measure]),
        0.5,
      );
    return {
      ...cell,
      subject,
      perSecond: median('perSecond'),
      cpuMicros: median('cpuMicros'),
      p50Millis: median('p50Millis'),
      p99Millis: median('p99Millis'),
      loopDelayMillis: median('loopDelayMillis'),
      throughputRatio: ratioOf(samples, 'perSecond', subject, plainKnex.name),
      cpuRatio: ratioOf(samples, 'cpuMicros', subject, plainKnex.name),
    };
  });
}

/** How one subject compares with another one in the same rounds. */
export function ratioOf(samples: Samples, measure: Measure, one: string, other: string): Spread {
  const others = samples.get(other) ?? [];
  return spreadOf(
    (samples.get(one) ?? []).map(
      (sample, round) => sample[measure] / (others[round]?.[measure] ?? Number.NaN),
    ),
  );
}

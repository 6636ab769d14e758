import { systemClock } from '../dist/clock.js';
import { Intents } from '../dist/sql/intents.js';
import type { Bench } from './bench-run.ts';
import { listKinds, textKinds, type TextMaker } from './classification-texts.ts';
import { quantileOf, spreadOf } from './quantile.ts';
import { atMost, type Check, reportChecks } from './results/check.ts';
import { placeOf } from './results/place.ts';
import type { ClassificationFigure } from './results/section.ts';

const listLength = 1000;
// One look-up is over before a clock has moved.
const looksAtOnce = 200;

/** How many texts of each kind are judged. */
interface Amount {
  readonly texts: number;
}

/** Measures how long it takes to tell what a text needs; no server takes part. */
export const benchClassification: Bench = async ({ isSmoke, keep }) => {
  const amount = { texts: isSmoke ? 20 : 2000 };
  const figures: ClassificationFigure[] = [];
  for (const [kind, make] of Object.entries(textKinds)) {
    figures.push(...(await measureKind(kind, make, amount)));
  }
  for (const [kind, make] of Object.entries(listKinds)) {
    figures.push(await measureLists(kind, make, amount));
  }

  console.log('\nClassification: microseconds for one text, the median (half lie between)');
  for (const { kind, when, micros } of figures) {
    const spread = `(${micros.low.toFixed(2)} to ${micros.high.toFixed(2)})`;
    console.log(`  ${kind.padEnd(45)} ${when.padEnd(22)} ${micros.median.toFixed(2)} ${spread}`);
  }
  const checks = checksOf(figures);
  keep({ classification: { place: await placeOf(), figures, checks } });
  return isSmoke || reportChecks(checks);
};

async function measureKind(
  kind: string,
  make: TextMaker,
  { texts }: Amount,
): Promise<ClassificationFigure[]> {
  const intents = makeIntents();
  // The first ones warm up what is compiled late.
  for (let n = 0; n < texts; n++) await intents.resolve(make(n));
  const firstSight: number[] = [];
  for (let n = texts; n < texts * 2; n++) firstSight.push(await judge(intents, make(n)));

  const seen: number[] = [];
  for (let n = texts; n < texts * 2; n++) {
    const text = make(n);
    intents.known(text);
    const begin = performance.now();
    for (let look = 0; look < looksAtOnce; look++) intents.known(text);
    seen.push(((performance.now() - begin) * 1000) / looksAtOnce);
  }
  return [
    { kind, when: 'first sight', micros: spreadOf(firstSight) },
    { kind, when: 'seen before', micros: spreadOf(seen) },
  ];
}

/** Lists of many lengths: each is a text of its own, and all have one shape. */
async function measureLists(
  kind: string,
  make: TextMaker,
  { texts }: Amount,
): Promise<ClassificationFigure> {
  const intents = makeIntents();
  for (let n = 0; n < texts / 10; n++) await intents.resolve(make(n + 3));
  const micros: number[] = [];
  for (let n = 0; n < texts / 10; n++) micros.push(await judge(intents, make(listLength + n)));
  return {
    kind: `list of ${listLength.toLocaleString('en')} ${kind}`,
    when: 'its shape seen before',
    micros: spreadOf(micros),
  };
}

/** How many microseconds it takes, as a query would ask. */
async function judge(intents: Intents, text: string): Promise<number> {
  const begin = performance.now();
  if (intents.known(text) === undefined) await intents.resolve(text);
  return (performance.now() - begin) * 1000;
}

function makeIntents(): Intents {
  return new Intents({
    catalog: {
      resolve: async () => ({
        danger: undefined,
        unknown: [],
        expiresAt: Number.POSITIVE_INFINITY,
      }),
      clear: () => undefined,
    },
    clock: systemClock,
    position: (text) => {
      let place = 0;
      return text.replaceAll('?', () => `$${++place}`);
    },
  });
}

function checksOf(figures: readonly ClassificationFigure[]): Check[] {
  const medians = (wanted: ClassificationFigure['when']): readonly number[] =>
    figures.filter(({ when }) => when === wanted).map(({ micros }) => micros.median);
  return [
    atMost(1)(
      'µs for a text seen before, of the slowest kind',
      Math.max(...medians('seen before')),
    ),
    atMost(150)(
      'µs for a text at first sight, median of the kinds',
      quantileOf(medians('first sight'), 0.5),
    ),
    atMost(150)(
      `µs for another list of ${listLength} placeholders`,
      Math.max(...medians('its shape seen before')),
    ),
  ];
}

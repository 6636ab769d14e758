import type { Clock } from '../clock.ts';
import type { Catalog } from './catalog.ts';
import { classify } from './classifier.ts';
import { FunctionLists, type FunctionListOptions } from './function-lists.ts';
import { isEmpty } from './lookups.ts';
import { isParserLoaded, loadParser, longestParsedText } from './parser.ts';
import { Patience, type PatienceLimits } from './patience.ts';
import type { Resolution } from './resolution.ts';
import { type Entry, type Known, TextCache } from './text-cache.ts';
import type { Verdict } from './verdict.ts';

/** What the user says of functions. */
export interface FunctionOptions extends FunctionListOptions {
  /**
   * Where a function goes that neither the lists nor the catalog know.
   *
   * @default 'primary'
   */
  readonly unknown?: 'primary' | 'replica' | undefined;
}

/** What {@link Intents} needs. */
export interface IntentsOptions {
  readonly catalog: Pick<Catalog, 'resolve' | 'clear'>;
  readonly clock: Clock;
  readonly functions?: FunctionOptions | undefined;
  /** How many texts are remembered. */
  readonly max?: number | undefined;
  /** How many characters all remembered texts have together. */
  readonly maxCharacters?: number | undefined;
  /** How long the first sight of a name waits for the catalog. */
  readonly patience?: PatienceLimits | undefined;
  /**
   * Whether nobody can serve a text before the catalog has answered, as where there is no primary:
   * then the first sight of a name waits longer.
   */
  readonly isAnswerNeeded?: (() => boolean) | undefined;
  /** Turns Knex's `?` into the `$n` that PostgreSQL's grammar knows; called on first sight only. */
  readonly position?: ((text: string) => string) | undefined;
}

/** How long the first sight of a name waits for the catalog, as a rule. */
export const usualPatience: PatienceLimits = {
  // Whoever runs the first read needs the connection of its look-up in any case.
  sendMillis: 2000,
  answerMillis: 200,
  longestMillis: 10_000,
};

// A text in use never waits for its names to be looked up again: that happens this long before.
const refreshAheadMillis = 15_000;
const refreshAgainMillis = 1000;

/** What every text needs, remembered by text. */
export class Intents {
  readonly #catalog: Pick<Catalog, 'resolve' | 'clear'>;
  readonly #clock: Clock;
  readonly #lists: FunctionLists;
  readonly #sendsUnknownToReplica: boolean;
  readonly #patience: Patience;
  readonly #isAnswerNeeded: () => boolean;
  readonly #texts: TextCache;
  #generation = 0;

  constructor({
    catalog,
    clock,
    functions = {},
    max = 10_000,
    maxCharacters = 8 * 1024 * 1024,
    patience = usualPatience,
    isAnswerNeeded = () => false,
    position = (text) => text,
  }: IntentsOptions) {
    this.#catalog = catalog;
    this.#clock = clock;
    this.#lists = new FunctionLists(functions);
    this.#sendsUnknownToReplica = functions.unknown === 'replica';
    this.#patience = new Patience(clock, patience);
    this.#isAnswerNeeded = isAnswerNeeded;
    this.#texts = new TextCache(max, maxCharacters, (shape) =>
      // Not worth a copy of its own: the parser would refuse it too.
      classify(shape.length > longestParsedText ? shape : position(shape), this.#lists),
    );
  }

  /**
   * The verdict on a text that was seen before; undefined means that {@link resolve} must be asked.
   *
   * @param key stands for the database, the role and the search path.
   */
  known(text: string, key = ''): Verdict | undefined {
    const entry = this.#texts.find(text);
    if (entry === undefined) return undefined;
    const known = this.#texts.finalOf(entry, key);
    if (known === undefined) return undefined;

    const now = this.#clock.now();
    if (now >= known.expiresAt) return undefined;
    if (now >= known.refreshAt) void this.#refresh(entry, key, known);
    return known.verdict;
  }

  /** The verdict on a text that may be new; never rejects. */
  async resolve(text: string, key = ''): Promise<Verdict> {
    // Another text may have made the parser reload in the meantime.
    while (!isParserLoaded()) await loadParser();
    const entry = this.#texts.findOrAdd(text);
    const { verdict, lookups } = entry.parsed;
    if (verdict.intent === 'read' && !isEmpty(lookups)) return this.#askOnce(entry, key);
    this.#keep(entry, key, verdict, Number.POSITIVE_INFINITY);
    return verdict;
  }

  /** What {@link inspect} says of a text that was seen before. */
  seen(text: string): Verdict | undefined {
    return this.#texts.find(text)?.parsed.verdict;
  }

  /** What a text does by its syntax alone, asking no catalog: what it leaves on its session, above all. */
  async inspect(text: string): Promise<Verdict> {
    await loadParser();
    return this.#texts.findOrAdd(text).parsed.verdict;
  }

  /** Forgets what was learnt from the catalog, as after DDL. */
  forget(): void {
    this.#generation++;
    this.#catalog.clear();
    this.#texts.forgetVerdicts();
  }

  /** However many runs of a text begin at once, the catalog is asked for them together. */
  async #askOnce(entry: Entry, key: string): Promise<Verdict> {
    const pending = entry.pending.get(key) ?? this.#ask(entry, key);
    entry.pending.set(key, pending);
    try {
      return await pending;
    } finally {
      if (entry.pending.get(key) === pending) entry.pending.delete(key);
    }
  }

  async #ask(entry: Entry, key: string): Promise<Verdict> {
    const generation = this.#generation;
    const { lookups } = entry.parsed;
    const resolution = await this.#patience.wait(
      (onSent) => this.#catalog.resolve(lookups, key, { onSent }),
      this.#isAnswerNeeded,
    );
    if (resolution === undefined) return unproved('unknown: the catalog did not answer');

    const verdict = this.#judge(entry.parsed.verdict, resolution);
    if (generation === this.#generation) this.#keep(entry, key, verdict, resolution.expiresAt);
    return verdict;
  }

  async #refresh(entry: Entry, key: string, known: Known): Promise<void> {
    const generation = this.#generation;
    known.refreshAt = Number.POSITIVE_INFINITY;
    try {
      const { verdict, lookups } = entry.parsed;
      const resolution = await this.#catalog.resolve(lookups, key, { outlasting: known.expiresAt });
      if (generation !== this.#generation) return;
      this.#keep(entry, key, this.#judge(verdict, resolution), resolution.expiresAt);
    } catch {
      // Until it expires there is time to try again.
      known.refreshAt = this.#clock.now() + refreshAgainMillis;
    }
  }

  #judge(verdict: Verdict, { danger, unknown }: Resolution): Verdict {
    const [stranger] = this.#sendsUnknownToReplica ? [] : unknown;
    const doubt = danger ?? (stranger === undefined ? undefined : `unknown function ${stranger}`);
    return doubt === undefined ? verdict : unproved(doubt);
  }

  #keep(entry: Entry, key: string, verdict: Verdict, expiresAt: number): void {
    const refreshAt = expiresAt - refreshAheadMillis;
    this.#texts.keepFinal(entry, key, { verdict, expiresAt, refreshAt });
  }
}

function unproved(reason: string): Verdict {
  return Object.freeze({ intent: 'write', proved: false, reason, changesCatalog: false });
}

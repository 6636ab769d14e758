import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Catalog } from './catalog.ts';
import { classify, type ParsedVerdict } from './classifier.ts';
import { FunctionLists, type FunctionListOptions } from './function-lists.ts';
import { isEmpty } from './lookups.ts';
import { isParserLoaded, loadParser, longestParsedText } from './parser.ts';
import { Patience } from './patience.ts';
import { shortenPlaceholderLists } from './placeholders.ts';
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
  /** How long the first sight of a name waits for the catalog, in milliseconds. */
  readonly lookupMillis?: number | undefined;
  /** Turns Knex's `?` into the `$n` that PostgreSQL's grammar knows; called on first sight only. */
  readonly position?: ((text: string) => string) | undefined;
}

interface Known {
  readonly verdict: Verdict;
  readonly expiresAt: number;
}

interface Entry {
  readonly parsed: ParsedVerdict;
  /** Final verdicts by what stands for database, role and search path. */
  readonly finals: Map<string, Known>;
  /** Verdicts that wait for the catalog, likewise. */
  readonly pending: Map<string, Promise<Verdict>>;
}

const mostKeys = 64;

/** What every text needs, remembered by text. */
export class Intents {
  readonly #catalog: Pick<Catalog, 'resolve' | 'clear'>;
  readonly #clock: Clock;
  readonly #lists: FunctionLists;
  readonly #sendsUnknownToReplica: boolean;
  readonly #patience: Patience;
  readonly #position: (text: string) => string;
  readonly #entries: LRUCache<string, Entry>;
  #generation = 0;

  constructor({
    catalog,
    clock,
    functions = {},
    max = 10_000,
    maxCharacters = 8 * 1024 * 1024,
    lookupMillis = 200,
    position = (text) => text,
  }: IntentsOptions) {
    this.#catalog = catalog;
    this.#clock = clock;
    this.#lists = new FunctionLists(functions);
    this.#sendsUnknownToReplica = functions.unknown === 'replica';
    this.#patience = new Patience(clock, lookupMillis);
    this.#position = position;
    this.#entries = new LRUCache({
      max,
      maxSize: maxCharacters,
      sizeCalculation: (_, text) => text.length + 1,
    });
  }

  /**
   * The verdict on a text that was seen before; undefined means that {@link resolve} must be asked.
   *
   * @param key stands for the database, the role and the search path.
   */
  known(text: string, key = ''): Verdict | undefined {
    const entry = this.#find(text);
    if (entry === undefined) return undefined;
    const known = entry.finals.get(key);
    return known !== undefined && known.expiresAt > this.#clock.now() ? known.verdict : undefined;
  }

  /** The verdict on a text that may be new; never rejects. */
  async resolve(text: string, key = ''): Promise<Verdict> {
    // Another text may have made the parser reload in the meantime.
    while (!isParserLoaded()) await loadParser();
    const entry = this.#find(text) ?? this.#add(text);
    const { verdict, lookups } = entry.parsed;
    if (verdict.intent === 'read' && !isEmpty(lookups)) return this.#askOnce(entry, key);
    this.#keep(entry, key, { verdict, expiresAt: Number.POSITIVE_INFINITY });
    return verdict;
  }

  /** What a text does by its syntax alone, asking no catalog: what it leaves on its session, above all. */
  async inspect(text: string): Promise<Verdict> {
    await loadParser();
    return (this.#find(text) ?? this.#add(text)).parsed.verdict;
  }

  /** Forgets what was learnt from the catalog, as after DDL. */
  forget(): void {
    this.#generation++;
    this.#catalog.clear();
    for (const { finals, pending } of this.#entries.values()) {
      finals.clear();
      pending.clear();
    }
  }

  #find(text: string): Entry | undefined {
    const entry = this.#entries.get(text);
    if (entry !== undefined) return entry;

    const shape = shortenPlaceholderLists(text);
    if (shape === text) return undefined;
    const shared = this.#entries.get(shape);
    if (shared !== undefined) this.#store(text, shared);
    return shared;
  }

  #add(text: string): Entry {
    const shape = shortenPlaceholderLists(text);
    const entry: Entry = { parsed: this.#classify(shape), finals: new Map(), pending: new Map() };
    this.#store(shape, entry);
    if (shape !== text) this.#store(text, entry);
    return entry;
  }

  #store(text: string, entry: Entry): void {
    if (text.length <= longestParsedText) this.#entries.set(text, entry);
  }

  #classify(shape: string): ParsedVerdict {
    // Not worth a copy of its own: the parser would refuse it too.
    return classify(shape.length > longestParsedText ? shape : this.#position(shape), this.#lists);
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
    const { verdict, lookups } = entry.parsed;
    const resolution = await this.#patience.wait(() => this.#catalog.resolve(lookups, key));
    if (resolution === undefined) return unproved('unknown: the catalog did not answer');

    const { danger, unknown, expiresAt } = resolution;
    const [stranger] = this.#sendsUnknownToReplica ? [] : unknown;
    const doubt = danger ?? (stranger === undefined ? undefined : `unknown function ${stranger}`);
    const known = { verdict: doubt === undefined ? verdict : unproved(doubt), expiresAt };
    if (generation === this.#generation) this.#keep(entry, key, known);
    return known.verdict;
  }

  #keep(entry: Entry, key: string, known: Known): void {
    if (entry.finals.size >= mostKeys) entry.finals.clear();
    entry.finals.set(key, known);
  }
}

function unproved(reason: string): Verdict {
  return Object.freeze({ intent: 'write', proved: false, reason, changesCatalog: false });
}

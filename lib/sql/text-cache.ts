import { LRUCache } from 'lru-cache';
import type { ParsedVerdict } from './classifier.ts';
import { longestParsedText } from './parser.ts';
import { shortenPlaceholderLists } from './placeholders.ts';
import type { Verdict } from './verdict.ts';

/** A verdict that the catalog has confirmed. */
export interface Known {
  readonly verdict: Verdict;
  readonly expiresAt: number;
  /** From when on the catalog is asked again, so that nobody waits for it later. */
  refreshAt: number;
}

/** What is remembered of a text. */
export interface Entry {
  readonly parsed: ParsedVerdict;
  /** Stands for the text. */
  readonly number: number;
  /** The final verdict where no search path and no role are wanted. */
  final: Known | undefined;
  /** Verdicts that wait for the catalog, likewise. */
  readonly pending: Map<string, Promise<Verdict>>;
}

// However many tenants there are: the final verdicts of all texts in all their states.
const MOST_FINALS = 50_000;

/** Texts and what they do, those that differ only in the length of placeholder lists together. */
export class TextCache {
  readonly #entries: LRUCache<string, Entry>;
  readonly #finals = new LRUCache<string, Known>({ max: MOST_FINALS });
  #count = 0;
  #shaped = '';
  #shape = '';
  readonly #classify: (shape: string) => ParsedVerdict;

  constructor(max: number, maxCharacters: number, classifyShape: (shape: string) => ParsedVerdict) {
    this.#classify = classifyShape;
    this.#entries = new LRUCache({
      max,
      maxSize: maxCharacters,
      sizeCalculation: (_, text) => text.length + 1,
    });
  }

  find(text: string): Entry | undefined {
    const entry = this.#entries.get(text);
    if (entry !== undefined) return entry;

    const shape = this.#shapeOf(text);
    if (shape === text) return undefined;
    const shared = this.#entries.get(shape);
    if (shared !== undefined) this.#store(text, shared);
    return shared;
  }

  findOrAdd(text: string): Entry {
    return this.find(text) ?? this.#add(text);
  }

  /** The final verdict on a text, by what stands for the search path and the role. */
  finalOf(entry: Entry, key: string): Known | undefined {
    return key === '' ? entry.final : this.#finals.get(`${entry.number} ${key}`);
  }

  /** Remembers a final verdict. */
  keepFinal(entry: Entry, key: string, known: Known): void {
    if (key === '') entry.final = known;
    else this.#finals.set(`${entry.number} ${key}`, known);
  }

  /** Forgets the verdicts, and keeps what the texts alone say. */
  forgetVerdicts(): void {
    this.#finals.clear();
    for (const entry of this.#entries.values()) {
      entry.final = undefined;
      entry.pending.clear();
    }
  }

  #add(text: string): Entry {
    const shape = this.#shapeOf(text);
    const parsed = this.#classify(shape);
    const entry: Entry = { parsed, number: ++this.#count, final: undefined, pending: new Map() };
    this.#store(shape, entry);
    if (shape !== text) this.#store(text, entry);
    return entry;
  }

  // Whoever does not find a text adds it next.
  #shapeOf(text: string): string {
    if (text !== this.#shaped) {
      this.#shape = shortenPlaceholderLists(text);
      this.#shaped = text;
    }
    return this.#shape;
  }

  #store(text: string, entry: Entry): void {
    if (text.length <= longestParsedText) this.#entries.set(text, entry);
  }
}

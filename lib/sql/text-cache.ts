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
  /** Final verdicts by what stands for database, role and search path. */
  readonly finals: Map<string, Known>;
  /** Verdicts that wait for the catalog, likewise. */
  readonly pending: Map<string, Promise<Verdict>>;
}

/** Texts and what they do, those that differ only in the length of placeholder lists together. */
export class TextCache {
  readonly #entries: LRUCache<string, Entry>;
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

    const shape = shortenPlaceholderLists(text);
    if (shape === text) return undefined;
    const shared = this.#entries.get(shape);
    if (shared !== undefined) this.#store(text, shared);
    return shared;
  }

  findOrAdd(text: string): Entry {
    return this.find(text) ?? this.#add(text);
  }

  /** Forgets the verdicts, and keeps what the texts alone say. */
  forgetVerdicts(): void {
    for (const { finals, pending } of this.#entries.values()) {
      finals.clear();
      pending.clear();
    }
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
}

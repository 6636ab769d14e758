import { createHash } from 'crypto';
import { LRUCache } from 'lru-cache';
import { longestParsedText } from './parser.ts';

/** A text that was seen more than once, and may be prepared by name. */
export interface NamedText {
  /** Stands for the text, and for what decides what it means; the same in every process. */
  readonly name: string;
  /** Until when it is sent without its name, on the clock. */
  restUntil: number;
}

// Of a text that was seen once: most are never seen again.
const SEEN = 'seen';

// Nothing else is executed as a whole or not at all (a procedure commits), or is worth it.
const BEGINS_PLAIN =
  /^(?:\s|\(|--[^\n\r]*[\n\r]|\/\*[^*]*\*\/)*(?:select|insert|update|delete|merge|with|values|table)\b/i;

// Literals that are read once, when their text is prepared: `timestamptz 'now'`, `date 'today'`.
const READS_CLOCK = /\b(?:now|today|tomorrow|yesterday)\b(?!\s*\()/i;

/** Texts that are worth a name: those that are sent again and again. */
export class NamedTexts {
  readonly #texts: LRUCache<string, NamedText | typeof SEEN>;

  constructor(max: number, maxCharacters: number) {
    this.#texts = new LRUCache({
      max,
      maxSize: maxCharacters,
      maxEntrySize: longestParsedText,
      sizeCalculation: (_, key) => key.length + 1,
    });
  }

  /**
   * Finds what a text is named; undefined at its first sight, and for what can't be prepared.
   *
   * @param state stands for what decides, besides the text, what the text means.
   */
  find(text: string, state: string): NamedText | undefined {
    const key = state === '' ? text : `${state}\0${text}`;
    const known = this.#texts.get(key);
    if (typeof known === 'object') return known;

    if (!isPlain(text)) return undefined;
    if (known === undefined) {
      this.#texts.set(key, SEEN);
      return undefined;
    }
    const named = { name: nameOf(key), restUntil: Number.NEGATIVE_INFINITY };
    this.#texts.set(key, named);
    return named;
  }
}

// Of several statements none can be prepared. A semicolon in a string costs the name.
function isPlain(text: string): boolean {
  const end = text.indexOf(';');
  if (!BEGINS_PLAIN.test(text) || READS_CLOCK.test(text)) return false;
  return end === -1 || text.slice(end + 1).trim() === '';
}

// A pooler may hand a session to other processes: none may find another text there under its name.
function nameOf(key: string): string {
  return `rw_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}

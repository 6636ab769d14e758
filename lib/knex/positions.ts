// Some 4 MB at most.
const MOST_TEXTS = 1000;
const LONGEST_TEXT = 1000;

/**
 * Remembers texts with numbered placeholders: an application sends the same few again and again, and
 * to number the placeholders takes longer than to find the text.
 */
export class Positions {
  readonly #texts = new Map<string, string>();

  /** A text with numbered placeholders; undefined where it is not known. */
  get(text: string): string | undefined {
    return this.#texts.get(text);
  }

  /** Remembers a text with numbered placeholders, and returns that. */
  keep(text: string, positioned: string): string {
    if (text.length > LONGEST_TEXT) return positioned;
    if (this.#texts.size >= MOST_TEXTS) this.#texts.clear();
    this.#texts.set(text, positioned);
    return positioned;
  }
}

const MOST_TEXTS = 1000;
const LONGEST_TEXT = 1000;

/**
 * Remembers something of texts of SQL: an application sends the same few again and again. Texts are
 * short, and there are not many: when there are too many, all are forgotten.
 */
export class TextMemo<T> {
  readonly #values = new Map<string, T>();

  /** What is remembered of a text; undefined where that is nothing. */
  get(text: string): T | undefined {
    return this.#values.get(text);
  }

  /** Remembers something of a text, and returns that. */
  keep(text: string, value: T): T {
    if (text.length > LONGEST_TEXT) return value;
    if (this.#values.size >= MOST_TEXTS) this.#values.clear();
    this.#values.set(text, value);
    return value;
  }
}

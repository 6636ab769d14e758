import { createHash } from 'crypto';

/**
 * Tells whether a method is a library's own, of a release that was looked at: what is wrapped around
 * it may count on how it is called.
 */
export class OwnMethod {
  readonly #isKnown: (source: string) => boolean;
  #looked: unknown;
  #wasKnown = false;

  /** @param isKnown tells by the source, which is looked at once for each function in the place. */
  constructor(isKnown: (source: string) => boolean) {
    this.#isKnown = isKnown;
  }

  /** @param digest the SHA-1 of the source. */
  static of(digest: string): OwnMethod {
    return new OwnMethod((source) => createHash('sha1').update(source).digest('hex') === digest);
  }

  /** Whether the function that is in the place now is the library's own. */
  is(method: unknown): boolean {
    if (method !== this.#looked) {
      this.#looked = method;
      this.#wasKnown = this.#isKnown(String(method));
    }
    return this.#wasKnown;
  }
}

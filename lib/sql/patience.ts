import type { Clock } from '../clock.ts';

const sulksForMillis = 1000;

/** How long {@link Patience} waits, in milliseconds. */
export interface PatienceLimits {
  /** For the question to be sent, which may need a connection first. */
  readonly sendMillis: number;
  /** From then on, for the answer. */
  readonly answerMillis: number;
  /** For either where nothing can be done without the answer. */
  readonly longestMillis: number;
}

/** Waits for answers only so long, and after a disappointment asks nothing for a second. */
export class Patience {
  readonly #clock: Clock;
  readonly #limits: PatienceLimits;
  #sulksUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, limits: PatienceLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * The answer; undefined where it is late, where asking failed, or where it was not asked for.
   *
   * @param ask is to call `onSent` once the question is on its way.
   * @param isNeeded whether nothing can be done without the answer, at the moment of the call.
   */
  async wait<T>(
    ask: (onSent: () => void) => Promise<T>,
    isNeeded: () => boolean = () => false,
  ): Promise<T | undefined> {
    const { answerMillis, longestMillis, sendMillis } = this.#limits;
    const begun = this.#clock.now();
    if (begun < this.#sulksUntil && !isNeeded()) return undefined;

    let stopTimer: (() => void) | undefined;
    let limit: ((millis: number) => void) | undefined;
    const late = new Promise<undefined>((settle) => {
      const giveUp = (): void => {
        if (isNeeded() && this.#clock.now() - begun < longestMillis) return limit?.(answerMillis);
        this.#sulk();
        settle(undefined);
      };
      limit = (millis) => {
        stopTimer?.();
        // A stalled process is late itself, and may not have read an answer that is there: it gets a turn.
        stopTimer = this.#clock.after(millis, () => {
          stopTimer = this.#clock.after(0, giveUp);
        });
      };
    });

    limit?.(sendMillis);
    try {
      return await Promise.race([this.#answer(() => ask(() => limit?.(answerMillis))), late]);
    } catch {
      this.#sulk();
      return undefined;
    } finally {
      stopTimer?.();
      limit = undefined;
    }
  }

  /** An answer that comes after all, however late, shows that asking is of use. */
  async #answer<T>(ask: () => Promise<T>): Promise<T> {
    const answer = await ask();
    this.#sulksUntil = Number.NEGATIVE_INFINITY;
    return answer;
  }

  #sulk(): void {
    this.#sulksUntil = this.#clock.now() + sulksForMillis;
  }
}

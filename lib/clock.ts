/** Time and timers, so that tests can hold both in their hands. */
export interface Clock {
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Runs `callback` once after `millis`; never keeps the process alive. Returns what cancels it. */
  after(millis: number, callback: () => void): () => void;
  /** As {@link Clock.after}, but keeps the process alive: for what a query waits for, and for nothing else. */
  holdFor(millis: number, callback: () => void): () => void;
}

/** The process's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(millis, callback) {
    const timer = setTimeout(callback, millis);
    timer.unref();
    return () => clearTimeout(timer);
  },
  holdFor(millis, callback) {
    const timer = setTimeout(callback, millis);
    return () => clearTimeout(timer);
  },
};

import type { Clock } from '../clock.ts';

/** What became of a promise, once something has. */
export async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  try {
    return { status: 'fulfilled', value: await promise };
  } catch (reason) {
    return { status: 'rejected', reason };
  }
}

/** What a promise was fulfilled with, if it was. */
export function fulfilled<T>(outcome: PromiseSettledResult<T> | undefined): T | undefined {
  return outcome?.status === 'fulfilled' ? outcome.value : undefined;
}

/** What a promise was rejected with, if it was. */
export function rejected(outcome: PromiseSettledResult<unknown> | undefined): unknown {
  return outcome?.status === 'rejected' ? outcome.reason : undefined;
}

/** What a statement answered; one that was not sent has nothing to answer. */
export function unwrap<T>(outcome: PromiseSettledResult<T> | undefined): T {
  if (outcome?.status === 'fulfilled') return outcome.value;
  throw outcome?.reason;
}

/** Waits for a promise that does not reject; undefined where it takes longer than `millis`. */
export function within<T>(
  promise: Promise<T>,
  millis: number,
  clock: Clock,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    const stopWaiting = clock.holdFor(millis, () => resolve(undefined));
    const end = (value: T): void => {
      stopWaiting();
      resolve(value);
    };
    void promise.then(end);
  });
}

import { setTimeout as sleep } from 'timers/promises';
import { ClusterError } from './cluster-error.ts';

const intervalMillis = 10;

/**
 * Waits until a fact holds, asking again every ten milliseconds.
 *
 * @throws {ClusterError} naming the fact, when it does not hold within `timeoutMillis`.
 */
export async function until(
  fact: string,
  timeoutMillis: number,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + timeoutMillis;

  while (!(await holds())) {
    if (performance.now() >= deadline) {
      throw new ClusterError(`Waited ${timeoutMillis} ms in vain until ${fact}.`);
    }
    await sleep(intervalMillis);
  }
}

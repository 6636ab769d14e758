import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, TestHost } from '../../lib/testing/index.ts';
import { setSettings } from './set-settings.ts';

/** How replicas are held up. */
export interface ReplayDelayOptions {
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /**
   * The longest delay of a commit, and of a pause, in milliseconds.
   *
   * @default 300
   */
  readonly maxMillis?: number;
}

/** Replicas that are held up until it is stopped. */
export interface ReplayDelay {
  /** Lets them replay at once again. */
  stop(): Promise<void>;
}

const mostMillisBetween = 150;

/**
 * Delays the replay of each replica on its own and at random: a delay that changes, or a pause.
 */
export function delayReplay(
  replicas: readonly TestHost[],
  { random, maxMillis = 300 }: ReplayDelayOptions,
): ReplayDelay {
  const over = new AbortController();

  const hold = async (replica: TestHost): Promise<void> => {
    while (!over.signal.aborted) {
      if (random() < 0.3) {
        await replica.pauseReplay();
        await sleep(random() * maxMillis);
        await replica.resumeReplay();
      } else {
        await delayCommits(replica, Math.round(random() * maxMillis));
      }
      await sleep(random() * mostMillisBetween);
    }
    await delayCommits(replica, undefined);
  };
  const done = Promise.all(replicas.map(hold));
  done.catch(() => undefined);

  return {
    async stop() {
      over.abort();
      await done;
    },
  };
}

/** Runs `fn` with every replica as far as the primary is at the beginning, and no further. */
export async function whilePaused<T>(cluster: Cluster, fn: () => Promise<T>): Promise<T> {
  const { replicas } = cluster;
  await cluster.waitForReplay();
  await Promise.all(replicas.map(async (host) => host.pauseReplay()));
  try {
    return await fn();
  } finally {
    await Promise.all(replicas.map(async (host) => host.resumeReplay()));
  }
}

/** Has a replica replay each commit so much later than it was made; `undefined` ends that. */
export async function delayCommits(replica: TestHost, millis: number | undefined): Promise<void> {
  await setSettings(replica, {
    recovery_min_apply_delay: millis === undefined ? undefined : `${millis}ms`,
  });
}

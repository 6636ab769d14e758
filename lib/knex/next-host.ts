import { systemClock } from '../clock.ts';
import type { Acquired } from '../routing/acquire.ts';
import type { Lease } from '../routing/lease.ts';
import type { Rerun } from '../routing/rerun.ts';
import type { RWSplit } from './rw-split.ts';

const onThePrimary = { intent: 'write', proved: true, reason: 'a replica refused it' } as const;

// Statements that failed together should not arrive at the next host together.
const MOST_JITTER_MILLIS = 20;

// How long a text that may be mistaken waits for the primary.
const SOON_MILLIS = 1000;

/** Takes a connection of the host that runs the statement next; undefined where none does. */
export async function nextHost(
  split: RWSplit,
  lease: Lease,
  rerun: Rerun,
  deadline: number,
): Promise<Acquired | undefined> {
  const next = await acquireNext(split, lease, rerun, deadline).catch(() => undefined);
  if (next === undefined || !(lease.isReleased || lease.isCancelled)) return next;

  // Given up meanwhile (a timeout, a closed stream): nobody waits for it.
  next.leave?.();
  split.dispatcher.release(next.host, next.connection);
  return undefined;
}

async function acquireNext(
  split: RWSplit,
  lease: Lease,
  rerun: Rerun,
  deadline: number,
): Promise<Acquired | undefined> {
  const { dispatcher, watch } = split;
  const { host, request } = lease;
  const left = (): number => deadline - systemClock.now();
  switch (rerun) {
    case 'primary-soon':
      dispatcher.letGo(lease);
      // What a replica may merely lack is, most often, a mistake in the text: not worth a long wait.
      return dispatcher.acquire(onThePrimary, Math.min(left(), SOON_MILLIS));
    case 'primary':
      dispatcher.letGo(lease);
      return dispatcher.acquire(onThePrimary, left());
    case 'if-demoted':
      await watch.monitor.check(host, true);
      if (host.role === 'primary' && host.isPrimaryConnection(lease.connection)) return undefined;
      dispatcher.letGo(lease);
      return request && dispatcher.acquire(request, left());
    case 'elsewhere':
      if (!mayTryAgain(lease)) (lease.tried ??= new Set()).add(host);
      dispatcher.letGo(lease);
      await jitter();
      return request && dispatcher.acquire(request, left(), undefined, lease.tried);
    case 'again':
      dispatcher.letGo(lease);
      await jitter();
      return request && dispatcher.acquire(request, left());
    default:
      return rerun satisfies never;
  }
}

// Where reads go to the primary there may be no other, and it may be well again.
function mayTryAgain({ host, attempts = [] }: Lease): boolean {
  return (
    host.role === 'primary' && attempts.filter(({ host: name }) => name === host.name).length < 2
  );
}

function jitter(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.holdFor(Math.random() * MOST_JITTER_MILLIS, resolve);
  });
}

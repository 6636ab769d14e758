import { systemClock } from '../clock.ts';
import { formatLsn } from '../consistency/lsn.ts';
import { InvalidTokenError, StaleReplicasError } from '../errors.ts';
import type { Mark } from '../consistency/mark.ts';
import type { Host } from '../hosts/host.ts';
import type { Acquired } from '../routing/acquire.ts';
import type { BehindError } from '../routing/behind-error.ts';
import type { Lease } from '../routing/lease.ts';
import { countRead } from './count-read.ts';
import { needOf } from './needs.ts';
import type { RWSplit } from './rw-split.ts';

/**
 * Takes a connection of a host that may have what a read needs, where another one had not.
 *
 * @throws {StaleReplicasError} when no host that may serve it has it in time.
 * @throws {InvalidTokenError} when the primary itself has never written what a token tells of.
 */
export async function fresherHost(
  split: RWSplit,
  lease: Lease,
  { host, written, message }: BehindError,
  deadline: number,
): Promise<Acquired> {
  const { dispatcher, events } = split;
  events.tell('stale', { host: host.name });
  lease.need?.noteRefused(host);
  if (written !== undefined) await proveToken(split, lease, host, written);

  const { request } = lease;
  if (request === undefined || lease.isReleased || lease.isCancelled) {
    throw new StaleReplicasError(`${message}, and the query was given up.`);
  }
  dispatcher.letGo(lease);
  const left = deadline - systemClock.now();
  const next = await dispatcher.acquire(
    { ...request, need: lease.need },
    left,
    undefined,
    lease.tried,
  );
  if (!lease.isReleased && !lease.isCancelled) {
    lease.isMoved = true;
    if (next.host.role === 'primary') countRead(split, next.host, 'forStaleness');
    return next;
  }

  next.leave?.();
  dispatcher.release(next.host, next.connection);
  throw new StaleReplicasError(`${message}, and the query was given up.`);
}

/**
 * Says what a token is worth that goes beyond what the primary has written: the first time, the host
 * may be no primary any more, and is looked at; then the token is of a branch that was given up, or
 * made up.
 *
 * @throws {InvalidTokenError} unless the session takes such a token for none.
 */
export async function proveToken(
  split: RWSplit,
  lease: Lease,
  host: Host,
  written: Mark,
): Promise<void> {
  if (await mayYetBeRight(split, lease, host)) return;

  const { session, need, request } = lease;
  if (session === undefined) return;
  if (session.settings.isStrict && session.isGiven) {
    const beyond = need?.mark === undefined ? '' : ` ${formatLsn(need.mark.lsn)}`;
    throw new InvalidTokenError(
      `The token tells of a position${beyond} that the primary has never written; start without it.`,
    );
  }
  session.restart(written, systemClock.now());
  lease.need = needOf(split, session, request?.hint?.consistency ?? session.settings.mode);
}

// How often it is looked for who was promoted, while a host says nothing.
const MOST_LOOKS = 4;
const LOOK_MILLIS = 300;

async function mayYetBeRight(
  { cluster, watch }: RWSplit,
  lease: Lease,
  host: Host,
): Promise<boolean> {
  const looks = lease.tokenDoubts++;
  // Another host may have been promoted, of which nobody here has heard.
  const isBeyond = (lease.need?.mark?.timeline ?? 0) > cluster.memory.timeline;
  const isSilent = cluster.hosts.some(({ health }) => health.state !== 'up');
  if (looks > 0 && !(isBeyond && isSilent && looks < MOST_LOOKS)) return false;

  if (looks > 0) await cluster.changes.after(cluster.changes.count, LOOK_MILLIS);
  await (isBeyond ? watch.checkSoon() : watch.monitor.check(host, true));
  return true;
}

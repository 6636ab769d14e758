import { isBefore } from '../consistency/mark.ts';
import { readWritten } from '../consistency/questions.ts';
import type { Mark } from '../consistency/mark.ts';
import { serverFacts } from '../hosts/server-facts.ts';
import type { Lease } from '../routing/lease.ts';
import type { Need } from '../routing/need.ts';
import type { RouteRequest } from '../routing/route.ts';
import { askWritten } from './captures.ts';
import { isFresh } from './checks.ts';
import { countRead } from './count-read.ts';
import { proveToken } from './fresher-host.ts';
import type { RWSplit } from './rw-split.ts';

// A host whose pool holds nothing but dead connections gives out one after the other.
const MOST_DEATHS = 8;

/**
 * Takes a connection for a transaction; for one that reads, of a host that has what its session wrote
 * or saw: where that isn't known, the host is asked before the transaction begins.
 */
export async function leaseFresh(split: RWSplit, wanted: RouteRequest): Promise<Lease> {
  let request = wanted;
  let tokenDoubts = 0;
  let deaths = 0;
  for (;;) {
    const leased = split.lease(request);
    // oxlint-disable-next-line no-await-in-loop -- one host after the other.
    const lease = leased instanceof Promise ? await leased : leased;
    // oxlint-disable-next-line no-await-in-loop -- as above.
    const lack = lease.need === undefined ? undefined : await lackOf(split, lease, lease.need);
    if (lack === undefined) {
      // It may have ended since it was taken, as when its host has got another role.
      if (serverFacts(lease.connection)?.isEnded !== true || deaths++ >= MOST_DEATHS) return lease;
      void lease.release();
      continue;
    }

    split.events.tell('stale', { host: lease.host.name });
    lease.need?.noteRefused(lease.host);
    void lease.release();
    if (lack === 'replayed') continue;
    lease.tokenDoubts = tokenDoubts;
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await proveToken(split, lease, lease.host, lack);
    ({ tokenDoubts } = lease);
    request = { ...request, need: lease.need };
  }
}

/** What a host lacks: of a primary, how far it has written instead. */
async function lackOf(
  split: RWSplit,
  lease: Lease,
  need: Need,
): Promise<'replayed' | Mark | undefined> {
  const { session, host, route, connection } = lease;
  if (host.role !== 'primary') {
    if (session === undefined) return undefined;
    return (await isFresh({ split, lease, session }, need)) ? undefined : 'replayed';
  }
  if (route.isPastReplicas === true) countRead(split, host, 'forStaleness');
  if (need.mark === undefined || session?.isGiven !== true) return undefined;

  const written = readWritten(await askWritten(host, connection));
  return written !== undefined && isBefore(written, need.mark) ? written : undefined;
}

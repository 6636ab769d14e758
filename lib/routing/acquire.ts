import type { Balancer, NonEmpty } from '../balancers/balancer.ts';
import type { Clock } from '../clock.ts';
import { asError, copyError } from '../errors.ts';
import type { HostFailure } from '../errors.ts';
import type { Connection, Host } from '../hosts/host.ts';
import type { Cluster } from '../hosts/cluster.ts';
import { shortageOf } from '../hosts/budget-shortage.ts';
import { isPoolAbort } from '../hosts/pool-abort.ts';
import { isPoolTimeout } from '../hosts/tarn-pool.ts';
import { BudgetUsedUpError } from './budget-used-up.ts';
import { noteEvidence } from './evidence.ts';
import { judgeConnectError } from './failure.ts';
import { type FallbackShare, NeedlessWait } from './fallback-share.ts';
import { PoolFullError } from './pool-full.ts';
import type { Route } from './route.ts';
import { isNonEmpty } from './route.ts';
import { noHost, surface } from './no-host.ts';

/** A host and one of its connections. */
export interface Acquired {
  readonly host: Host;
  readonly connection: Connection;
  /** To be called when the connection goes back, where it counts against a share. */
  readonly leave?: (() => void) | undefined;
}

/** What {@link acquire} works with, whatever the route. */
export interface AcquireParts {
  /** Told of hosts that can't be reached, and asked about those that weren't tried. */
  readonly cluster: Cluster;
  readonly balancer: Balancer;
  readonly clock: Clock;
  /** Limits what a fallback may hold; without it there is no limit. */
  readonly share?: FallbackShare | undefined;
  /** How much a connection has to be changed, where that makes a difference. */
  readonly changes?: ((connection: Connection) => number) | undefined;
  /** Ends waits for a connection, as when the client ends whose pools others go on using. */
  readonly signal?: AbortSignal | undefined;
  /** How long, in milliseconds, a server may be waited for that has no connection left; for ever without it. */
  readonly refusedMillis?: number | undefined;
}

// How often who may wait no longer for such a server looks whether it still is one.
const REFUSED_MILLIS = 500;

/**
 * Takes a connection of one of a route's hosts.
 *
 * An idle or openable connection on any of them goes before a wait; a host that can't be reached
 * is passed over for the next, then for the fallback; all within one time budget.
 *
 * @param chosen the first host to try, where it is picked already.
 * @throws {PoolFullError} when the connections of the chosen host all stay in use.
 * @throws {BudgetUsedUpError} when the connections to its server stay with other pools.
 * @throws {NoHostAvailableError} when no host can be reached.
 * @throws {NeedlessWait} when hosts serve again while a fallback is waited for.
 */
export async function acquire(
  route: Route,
  parts: AcquireParts,
  budgetMillis: number,
  chosen?: Host,
): Promise<Acquired> {
  const { cluster, balancer, clock, share } = parts;
  const deadline = clock.now() + budgetMillis;
  const failures: HostFailure[] = [];

  for (const tier of [route.hosts, route.fallback, route.lastResort]) {
    let hosts = tier;
    while (isNonEmpty(hosts)) {
      const isChosen = chosen !== undefined && tier === route.hosts && failures.length === 0;
      const host = pick(hosts, balancer, isChosen ? chosen : undefined);
      const left = deadline - clock.now();
      if (left < 1) throw noHost(route.intent, cluster, failures, route);
      // One that never opens must leave time for the others; a full pool is waited for to the end.
      const others = hosts.length - 1 + (tier === route.hosts ? route.fallback.length : 0);
      const millis = host.pool.isFull ? left : left / (others + 1);
      try {
        if (tier !== route.fallback || share === undefined) return await take(host, millis, parts);
        return await takeOfShare(host, share, parts, millis);
      } catch (error) {
        // Who is here because replicas failed it goes on waiting, whichever of them is well again.
        if (error instanceof NeedlessWait && failures.length > 0) continue;
        failures.push(judgeWait(cluster, host, error, millis, millis < left));
        hosts = hosts.filter((other) => other !== host);
      }
    }
  }

  throw surface(route, cluster, failures);
}

async function take(
  host: Host,
  millis: number,
  { clock, changes, signal, refusedMillis = millis }: AcquireParts,
): Promise<Acquired> {
  const { pool } = host;
  const pending = pool.acquireWithin(millis, changes);
  const look = (): void => {
    // One that is idle is about to be given out.
    if (pool.gate.refusal !== undefined && pool.stats.free === 0) return pending.abort();
    stop = clock.after(REFUSED_MILLIS, look);
  };
  // Rounded up, as a timer may fire a little before its time.
  let stop = refusedMillis < millis ? clock.after(Math.max(0, refusedMillis) + 1, look) : undefined;
  const end = (): void => pending.abort();
  signal?.addEventListener('abort', end);
  if (signal?.aborted === true) end();
  try {
    return { host, connection: await pending.promise };
  } finally {
    signal?.removeEventListener('abort', end);
    stop?.();
  }
}

async function takeOfShare(
  host: Host,
  share: FallbackShare,
  parts: AcquireParts,
  millis: number,
): Promise<Acquired> {
  const { clock } = parts;
  const deadline = clock.now() + millis;
  if (!(await share.enter(host, millis))) {
    throw new PoolFullError(host, millis, new Error('rwSplit.fallbackShare is used up'));
  }
  try {
    const taken = await take(host, deadline - clock.now(), parts);
    return { ...taken, leave: once(() => share.leave()) };
  } catch (error) {
    share.leave();
    throw error;
  }
}

// A lease that moved to another host has left already when it ends.
function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) action();
    isDone = true;
  };
}

// Only a choice that someone has to wait for is worth a second look.
function pick(hosts: NonEmpty<Host>, balancer: Balancer, picked: Host | undefined): Host {
  const chosen = picked ?? (hosts.length === 1 ? hosts[0] : balancer.pick(hosts));
  if (chosen.pool.hasRoom()) return chosen;

  const roomy = hosts.filter((host) => host.pool.hasRoom());
  return isNonEmpty(roomy) ? balancer.pick(roomy) : chosen;
}

/** Says what became of a wait for a connection of a host. */
export function judgeWait(
  cluster: Cluster,
  host: Host,
  error: unknown,
  waitedMillis: number,
  hasTimeLeft: boolean,
): HostFailure {
  if (error instanceof PoolFullError || error instanceof NeedlessWait) throw error;
  const shortage = shortageOf(error);
  if (shortage !== undefined) {
    if (!hasTimeLeft) throw new BudgetUsedUpError(host.name, waitedMillis, shortage, error);
    return { name: host.name, state: `gave no connection in its share of the time: ${shortage}` };
  }
  const { gate, stats } = host.pool;
  const isTimeout = isPoolTimeout(error);
  const isAbort = isPoolAbort(error);
  const isDown = cluster.hosts.includes(host) && host.health.state === 'down';
  if (isAbort && isDown)
    return { name: host.name, state: 'unreachable', lastError: host.lastError };
  if (isTimeout && stats.used >= stats.max) {
    // Busy is not dead: another host would only be flooded next.
    if (!hasTimeLeft) throw new PoolFullError(host, waitedMillis, error);
    return { name: host.name, state: 'had no connection free in its share of the time' };
  }
  if ((isAbort || isTimeout) && gate.refusal !== undefined) {
    return { name: host.name, state: 'has no connection left', lastError: copyError(gate.refusal) };
  }
  if (isAbort) return { name: host.name, state: 'went out of use', lastError: host.lastError };

  const lastError = isTimeout
    ? new Error(`no connection within ${Math.round(waitedMillis)} ms`, { cause: error })
    : asError(error);
  host.failed(lastError);
  // Where none may be opened for the moment, nothing was learnt.
  const afterTime = gate.isOpen ? 'silent' : 'none';
  const evidence = isTimeout ? afterTime : judgeConnectError(lastError).host;
  noteEvidence(cluster, host, evidence, lastError);
  return { name: host.name, state: 'unreachable', lastError };
}

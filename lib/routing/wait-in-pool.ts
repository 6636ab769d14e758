import type { Clock } from '../clock.ts';
import { asError } from '../errors.ts';
import type { Cluster } from '../hosts/cluster.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { isPoolTimeout } from '../hosts/tarn-pool.ts';
import type { SessionStates } from '../state/session-states.ts';
import { judgeWait } from './acquire.ts';
import type { ConnectionFinder } from './connection-finder.ts';
import { surface } from './no-host.ts';
import type { Route, RouteRequest } from './route.ts';

interface WaitParts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly states: SessionStates;
  /** How long a query may wait for a connection. */
  readonly acquireMillis: number;
  readonly signal?: AbortSignal | undefined;
}

/** Whether all that a request can do is wait for a connection of its host that is in use. */
export function mustWaitInPool(
  { pool }: Host,
  { hosts }: Route,
  { need }: RouteRequest,
  { cluster, signal }: WaitParts,
): boolean {
  if (!pool.isFull || need !== undefined || signal !== undefined || !cluster.isSettled)
    return false;
  return pool.gate.refusal === undefined && !hosts.some((other) => other.pool.hasRoom());
}

/**
 * Waits for a connection of a full pool, without all that a host which may be gone would take: where
 * every query waits, that would be a third of what a query costs.
 *
 * @returns undefined where the request has to look for a connection anew.
 * @throws {PoolFullError} when the connections all stay in use.
 */
export async function waitInPool(
  host: Host,
  decided: Route,
  request: RouteRequest,
  { cluster, acquireMillis, states }: WaitParts,
  finder: ConnectionFinder,
): Promise<Connection | undefined> {
  const { count } = cluster.changes;
  const wait = host.pool.waitForOne(acquireMillis, states.changeCount(request.state));
  let connection: Connection;
  try {
    connection = await wait;
  } catch (error) {
    if (!isPoolTimeout(error)) return undefined;
    throw inVain(host, decided, cluster, error, acquireMillis);
  }
  if (count !== cluster.changes.count && !finder.stillServes(request, decided, host)) {
    host.pool.release(connection);
    return undefined;
  }
  return finder.isRight(decided, host, connection) ? connection : undefined;
}

function inVain(host: Host, route: Route, cluster: Cluster, error: unknown, millis: number): Error {
  try {
    return surface(route, cluster, [judgeWait(cluster, host, error, millis, false)]);
  } catch (judged) {
    return asError(judged);
  }
}

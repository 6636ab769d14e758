import type { HostFailure } from '../errors.ts';
import { NoHostAvailableError } from '../errors.ts';
import { unfitness } from '../hosts/routable-hosts.ts';
import type { Cluster } from '../hosts/cluster.ts';
import type { Trouble } from '../hosts/health.ts';
import type { Host } from '../hosts/host.ts';
import { isPasswordError } from '../hosts/password-error.ts';
import { isNetworkCode } from './network-code.ts';
import type { Route } from './route.ts';

/**
 * The error of a statement that none of the tried hosts gave a connection for.
 *
 * What PostgreSQL answers (wrong password, no such database), or a function of the application
 * throws, arrives as it is: the primary's, where several hosts were asked.
 */
export function surface(route: Route, cluster: Cluster, failures: readonly HostFailure[]): Error {
  const last = failures.at(-1)?.lastError;
  const isOthers = failures.every(({ lastError }) => lastError && !isUnreachable(lastError));
  return last !== undefined && isOthers ? last : noHost(route.intent, cluster, failures, route);
}

// Network errors name a system call, or hold one for each address; ours of a host that was given up
// have Node's names, and pg's have words only.
function isUnreachable(error: Error): boolean {
  if ('severity' in error || isPasswordError(error)) return false;
  if ('syscall' in error || 'errors' in error) return true;
  if ('code' in error && isNetworkCode(String(error.code))) return true;
  return /^(?:timeout expired|Connection terminated|no connection within|The probe had no answer)/.test(
    error.message,
  );
}

/** The error of a statement that no host can serve, with what is known of each. */
export function noHost(
  intent: string,
  cluster: Cluster,
  failures: readonly HostFailure[],
  route?: Route,
): NoHostAvailableError {
  const { elected } = cluster;
  const hosts = cluster.hosts.map(
    (host) => failures.find(({ name }) => name === host.name) ?? bystander(host, elected, route),
  );
  const advice = hosts.some(({ lastError }) => lastError !== undefined)
    ? 'Check that the servers run and can be reached from here.'
    : 'See rwSplit(db).hosts() for what is known of each.';
  return new NoHostAvailableError(intent, hosts, advice);
}

function bystander(host: Host, elected: Host | undefined, route?: Route): HostFailure {
  const { name, health, lastError, isDraining } = host;
  if (isDraining || health.state === 'unknown' || health.state === 'up') {
    const wasFit = route !== undefined && [...route.hosts, ...route.fallback].includes(host);
    const bare = wasFit ? 'was not tried in time' : `is a ${host.role}`;
    return { name, state: unfitness(host, elected) ?? bare };
  }
  return { name, state: states[health.trouble], lastError };
}

const states = {
  refused: 'unreachable',
  silent: 'unreachable',
  starting: 'starting',
  misconfigured: 'misconfigured',
} as const satisfies Record<Trouble, string>;

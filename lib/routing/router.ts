import { ConfigError, ReadOnlyHostError } from '../errors.ts';
import type { RoutableHosts } from '../hosts/cluster.ts';
import type { Host } from '../hosts/host.ts';
import type { Target } from '../config/options.ts';
import type { Route, RouteRequest } from './route.ts';

/** What a {@link route} decision depends on besides the request. */
export interface RoutingPolicy {
  readonly target: Target;
  readonly fallback: 'primary' | 'error';
}

const none: readonly Host[] = Object.freeze([]);

/**
 * Decides which hosts may serve a request.
 *
 * The order: a named host, the query's target, the surrounding scope, the client's target, and
 * then what the statement does. It is pure: the balancer picks among the hosts it names.
 *
 * @throws {ReadOnlyHostError} when a hint would send a proved write to a replica.
 * @throws {ConfigError} when a hint names a host or target that doesn't exist.
 */
export function route(request: RouteRequest, hosts: RoutableHosts, policy: RoutingPolicy): Route {
  const { hint } = request;
  if (hint?.host !== undefined) return onHost(hint.host, request, hosts);

  const target = hint?.target ?? scopeTarget(request, policy) ?? policy.target;
  if (hint?.target === 'replica' && isProvedWrite(request)) throw refused(request, 'a replica');

  const reason = explain(request, target, policy);
  const found = onTarget(target, request, hosts, policy);
  return { intent: request.intent, reason, ...withTag(found, hint?.tag) };
}

type Choice = Pick<Route, 'hosts' | 'fallback' | 'role' | 'mayRerun'>;

function onTarget(
  target: Target,
  request: RouteRequest,
  hosts: RoutableHosts,
  policy: RoutingPolicy,
): Choice {
  const isRead = request.intent === 'read';
  switch (target) {
    case 'any':
      return { hosts: hosts.usable, fallback: none, role: 'any', mayRerun: false };
    case 'replica':
      return { hosts: hosts.replicas, fallback: none, role: 'replica', mayRerun: false };
    case 'prefer-replica':
      return isRead ? reader(hosts.replicas, hosts.primary) : writer(hosts);
    case 'split':
      if (!isRead) return writer(hosts);
      // A scope that names replicas is strict, as `target: 'replica'` is.
      if (request.scope === 'replica') return reader(hosts.replicas, none);
      return reader(hosts.readers, spare(request, hosts, policy));
    case 'primary':
      return writer(hosts);
    default:
      return unknownTarget(target);
  }
}

function writer(hosts: RoutableHosts): Choice {
  return { hosts: hosts.primary, fallback: none, role: 'primary', mayRerun: false };
}

// A primary that is one of the readers is tried as such, and not once more as their fallback.
function spare(
  { hint }: RouteRequest,
  { readers, replicas, primary }: RoutableHosts,
  { fallback }: RoutingPolicy,
): readonly Host[] {
  const isReader = readers !== replicas && hint?.tag === undefined;
  return fallback === 'primary' && !isReader ? primary : none;
}

function reader(hosts: readonly Host[], fallback: readonly Host[]): Choice {
  return { hosts, fallback, role: 'replica', mayRerun: true };
}

// Replicas without the tag aren't fit for this query: what then, the fallback says, as for any other.
function withTag(choice: Choice, tag: string | undefined): Choice {
  if (tag === undefined || choice.role === 'primary') return choice;
  return { ...choice, hosts: choice.hosts.filter((host) => host.tags.includes(tag)) };
}

function onHost(name: string, request: RouteRequest, hosts: RoutableHosts): Route {
  const host = hosts.all.find((candidate) => candidate.name === name);
  if (host === undefined) {
    const known = hosts.all.map((candidate) => candidate.name).join(', ');
    throw new ConfigError('rwSplit.host', `No host is named "${name}"; there are ${known}.`);
  }
  if (host.role === 'replica' && isProvedWrite(request)) throw refused(request, `"${name}"`);

  return {
    intent: request.intent,
    reason: `hint: host ${name}`,
    hosts: [host],
    fallback: none,
    role: 'any',
    mayRerun: false,
  };
}

// `onReplica(fn)` is about reads: a write in it goes where it always goes.
function scopeTarget({ scope }: RouteRequest, policy: RoutingPolicy): Target | undefined {
  if (policy.target === 'any') return undefined;
  return scope === 'replica' ? 'split' : scope;
}

function isProvedWrite({ intent, proved }: RouteRequest): boolean {
  return intent !== 'read' && proved;
}

function refused(request: RouteRequest, where: string): ReadOnlyHostError {
  return new ReadOnlyHostError(
    `A hint sends this statement to ${where}, but it ${request.reason}; remove the hint, or run it on the primary.`,
  );
}

function explain(request: RouteRequest, target: Target, policy: RoutingPolicy): string {
  if (request.hint?.target !== undefined) return `hint: ${target}; ${request.reason}`;
  if (request.scope !== undefined) return `scope: ${request.scope}; ${request.reason}`;
  return policy.target === 'split' ? request.reason : `target: ${target}; ${request.reason}`;
}

function unknownTarget(target: never): never {
  throw new ConfigError(
    'rwSplit.target',
    `A hint has the target "${String(target)}"; use split, primary, replica, prefer-replica or any.`,
  );
}

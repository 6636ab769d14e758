import { ConfigError, ReadOnlyHostError } from '../errors.ts';
import type { RoutableHosts } from '../hosts/routable-hosts.ts';
import type { Host } from '../hosts/host.ts';
import type { Target } from '../config/options.ts';
import type { Need } from './need.ts';
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

  const target =
    hint?.target ?? strongTarget(request) ?? scopeTarget(request, policy) ?? policy.target;
  if (hint?.target === 'replica' && isProvedWrite(request)) throw refused(request, 'a replica');

  const reason = explain(request, target, policy);
  const found = withTag(onTarget(target, request, hosts, policy), hint?.tag);
  const decided = { intent: request.intent, reason, ...found };
  return request.need === undefined ? decided : freshOnly(decided, request.need);
}

type Choice = Omit<Route, 'intent' | 'reason'>;

function onTarget(
  target: Target,
  request: RouteRequest,
  hosts: RoutableHosts,
  policy: RoutingPolicy,
): Choice {
  const isRead = request.intent === 'read';
  switch (target) {
    case 'any':
      return { ...anyRole, hosts: hosts.usable };
    case 'replica':
      return { ...reader(hosts, hosts.replicas, none), mayRerun: false, awaitsPrimary: false };
    case 'prefer-replica':
      return isRead ? reader(hosts, hosts.replicas, hosts.primary) : writer(hosts);
    case 'split':
      if (!isRead) return writer(hosts);
      // A scope that names replicas is strict, as `target: 'replica'` is.
      if (request.scope === 'replica') {
        return { ...reader(hosts, hosts.replicas, none), awaitsPrimary: false };
      }
      return {
        ...reader(hosts, hosts.readers, spare(request, hosts, policy)),
        awaitsPrimary: policy.fallback === 'primary',
      };
    case 'primary':
      return writer(hosts);
    default:
      return unknownTarget(target);
  }
}

const anyRole: Omit<Choice, 'hosts'> = {
  fallback: none,
  lastResort: none,
  role: 'any',
  mayRerun: false,
  awaitsPrimary: false,
};

function writer(hosts: RoutableHosts): Choice {
  return {
    hosts: hosts.primary,
    fallback: none,
    lastResort: none,
    role: 'primary',
    mayRerun: false,
    awaitsPrimary: true,
  };
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

function reader(
  { lastReplicas: lastResort }: RoutableHosts,
  hosts: readonly Host[],
  fallback: readonly Host[],
): Choice {
  return { hosts, fallback, lastResort, role: 'replica', mayRerun: true, awaitsPrimary: true };
}

// Replicas without the tag aren't fit for this query: what then, the fallback says, as for any other.
function withTag(choice: Choice, tag: string | undefined): Choice {
  if (tag === undefined || choice.role === 'primary') return choice;
  const isTagged = (host: Host): boolean => host.tags.includes(tag);
  const { hosts, lastResort } = choice;
  return { ...choice, hosts: hosts.filter(isTagged), lastResort: lastResort.filter(isTagged) };
}

// A replica that lacks what the session has written, or may lack it for too long, is as good as none.
function freshOnly(decided: Route, need: Need): Route {
  if (decided.role === 'primary') return decided;

  const mayServe = (host: Host): boolean => host.role === 'primary' || need.of(host) !== 'behind';
  const hosts = decided.hosts.filter(mayServe);
  const lastResort = decided.lastResort.filter(mayServe);
  const isPastReplicas = hosts.length === 0 && decided.hosts.length > 0;
  const reason = isPastReplicas ? `${decided.reason}; ${need.reason}` : decided.reason;
  return { ...decided, reason, hosts, lastResort, isPastReplicas };
}

function onHost(name: string, request: RouteRequest, hosts: RoutableHosts): Route {
  const host = hosts.all.find((candidate) => candidate.name === name);
  if (host === undefined) {
    const known = hosts.all.map((candidate) => candidate.name).join(', ');
    throw new ConfigError('rwSplit.host', `No host is named "${name}"; there are ${known}.`);
  }
  if (host.role === 'replica' && isProvedWrite(request)) throw refused(request, `"${name}"`);
  if (request.isStrong === true && host.role === 'replica') {
    throw new ConfigError(
      'consistency',
      `A hint asks for the consistency "strong" of "${name}", a replica; name the primary, or no host.`,
    );
  }
  // What it would write, or read, is not of this cluster, or no longer.
  const mustNotServe = host.exclusion === 'fenced' || host.exclusion === 'foreign';

  const decided = {
    intent: request.intent,
    reason: `hint: host ${name}`,
    ...anyRole,
    hosts: mustNotServe ? none : [host],
  };
  return request.need === undefined ? decided : freshOnly(decided, request.need);
}

function strongTarget({ isStrong, intent }: RouteRequest): Target | undefined {
  return isStrong === true && intent === 'read' ? 'primary' : undefined;
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
  if (strongTarget(request) !== undefined) return `consistency: strong; ${request.reason}`;
  if (request.scope !== undefined) return `scope: ${request.scope}; ${request.reason}`;
  return policy.target === 'split' ? request.reason : `target: ${target}; ${request.reason}`;
}

function unknownTarget(target: never): never {
  throw new ConfigError(
    'rwSplit.target',
    `A hint has the target "${String(target)}"; use split, primary, replica, prefer-replica or any.`,
  );
}

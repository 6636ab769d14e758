import type { Route } from '../../lib/routing/route.ts';

/** A read of replicas that names no host but those that are given. */
export function makeRoute(told: Partial<Route> = {}): Route {
  return {
    intent: 'read',
    reason: 'only reads',
    hosts: [],
    fallback: [],
    lastResort: [],
    role: 'replica',
    mayRerun: true,
    awaitsPrimary: true,
    ...told,
  };
}

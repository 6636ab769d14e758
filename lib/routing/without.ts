import type { Host } from '../hosts/host.ts';
import type { Route } from './route.ts';

/** A route less the hosts that were tried already. */
export function without(route: Route, tried: ReadonlySet<Host> | undefined): Route {
  if (tried === undefined) return route;

  const isLeft = (host: Host): boolean => !tried.has(host);
  const { hosts, fallback, lastResort } = route;
  return {
    ...route,
    hosts: hosts.filter(isLeft),
    fallback: fallback.filter(isLeft),
    lastResort: lastResort.filter(isLeft),
  };
}

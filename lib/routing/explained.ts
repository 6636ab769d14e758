import type { Host } from '../hosts/host.ts';
import type { Route } from './route.ts';

/** Has a route say why the primary gets a read, for listeners and logs. */
export function explained(route: Route, host: Host): Route {
  const isTold = route.isPastReplicas === true;
  if (isTold || !route.fallback.includes(host) || route.hosts.includes(host)) return route;
  return { ...route, reason: `${route.reason}; no replica can serve it` };
}

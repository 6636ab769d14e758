import { knex } from 'knex';
import type { Knex } from 'knex';
import { createRWSplitClient } from './knex/client.ts';

/**
 * The Knex client that splits: `knex({ client: RWSplitClient, connection, rwSplit })`.
 *
 * Without `rwSplit`, and with one host in the URL, it is Knex's own `pg` client.
 */
export const RWSplitClient: typeof Knex.Client = createRWSplitClient(knex);

export { createRWSplitClient };
export { registerBalancer } from './balancers/registry.ts';
export type { BalancerFactory, BalancerName, BalancerOption } from './balancers/registry.ts';
export type { Balancer, HostView, NonEmpty } from './balancers/balancer.ts';
export type * from './config/consistency-options.ts';
export type * from './config/health-options.ts';
export type * from './config/host-options.ts';
export type * from './config/options.ts';
export { PoolRegistry } from './config/pool-registry.ts';
export type * from './config/state-options.ts';
export {
  ConfigError,
  InvalidTokenError,
  NoHostAvailableError,
  ReadOnlyHostError,
  RWSplitError,
  SessionStateError,
  StaleReplicasError,
} from './errors.ts';
export type { HostFailure, RWSplitErrorCode } from './errors.ts';
export type {
  DiscoveryErrorEvent,
  HostDownEvent,
  HostExcludedEvent,
  HostFencedEvent,
  HostLagEvent,
  HostRole,
  HostRoleEvent,
  HostUpEvent,
  MisrouteEvent,
  RetryEvent,
  RouteEvent,
  RWSplitEvents,
  StaleEvent,
} from './events.ts';
export type { ConsistencyStats } from './hosts/consistency-stats.ts';
export type { ServedStats } from './hosts/served-stats.ts';
export type { PoolStats } from './hosts/pool-settings.ts';
export type { Explanation, OtherHost } from './knex/explain.ts';
export type { ErrorRoute } from './knex/failed-attempt.ts';
export { rwSplit } from './knex/handle.ts';
export type { DrainOptions } from './knex/drain-options.ts';
export type { RWSplitHandle } from './knex/handle.ts';
export { onPrimary, onReplica } from './knex/hints.ts';
export type { SessionOptions } from './knex/session-options.ts';
export type { HostDescription } from './knex/pool-hooks.ts';
export type { HostSnapshot } from './knex/host-snapshot.ts';
export type * from './knex/middleware-options.ts';
export { sessionMiddleware } from './knex/session-middleware.ts';
export type { SessionMiddleware } from './knex/session-middleware.ts';
export type { Attempt } from './routing/lease.ts';
export type { Hint } from './routing/route.ts';

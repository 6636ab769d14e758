import type { NonEmpty } from '../balancers/balancer.ts';
import type { Target } from '../config/options.ts';
import type { Host } from '../hosts/host.ts';
import type { ConsistencyMode } from '../config/consistency-options.ts';
import type { Session } from '../consistency/session.ts';
import type { Intent } from '../sql/verdict.ts';
import type { WantedState } from '../state/wanted-state.ts';
import type { Need } from './need.ts';

/** What the user wishes for one query. */
export interface Hint {
  readonly target?: Target | undefined;
  /** The name of the host that must serve. */
  readonly host?: string | undefined;
  /** Only replicas with this tag serve. */
  readonly tag?: string | undefined;
  /** What this query sees of earlier writes, instead of what its session says. */
  readonly consistency?: ConsistencyMode | undefined;
}

/** What asks for a host: a statement, or a transaction as a whole. */
export interface RouteRequest {
  readonly intent: Intent;
  /** A write that any server calls one, as opposed to a statement that nothing proved to be a read. */
  readonly proved: boolean;
  readonly reason: string;
  readonly hint?: Hint | undefined;
  /** The surrounding `onPrimary(fn)` or `onReplica(fn)`. */
  readonly scope?: 'primary' | 'replica' | undefined;
  /** Whose reads have to see what it writes. */
  readonly session?: Session | undefined;
  /** Whether the position of what it writes, or sees, is captured. */
  readonly isTracked?: boolean | undefined;
  /** What a replica must have to serve it; undefined where any will do. */
  readonly need?: Need | undefined;
  /** What its session is to be like; undefined for what the client usually wants. */
  readonly state?: WantedState | undefined;
  /** Whether it has to see the primary's own state. */
  readonly isStrong?: boolean | undefined;
}

/** Which hosts may serve a request, and why. */
export interface Route {
  readonly intent: Intent;
  readonly reason: string;
  /** Tried first, in the balancer's order. */
  readonly hosts: readonly Host[];
  /** Tried when none of `hosts` can serve. */
  readonly fallback: readonly Host[];
  /** Tried when nothing else can: hosts that may fail, but tell why. */
  readonly lastResort: readonly Host[];
  /** What the serving host must be; `any` where its role doesn't matter. */
  readonly role: 'primary' | 'replica' | 'any';
  /** Whether the primary may run what a replica refused. */
  readonly mayRerun: boolean;
  /** Whether it is worth waiting for a primary where there is none. */
  readonly awaitsPrimary: boolean;
  /** Whether replicas were passed over that lack, or may lack, what the request needs. */
  readonly isPastReplicas?: boolean | undefined;
}

/** Whether a list of hosts has one at all. */
export function isNonEmpty<T>(list: readonly T[]): list is NonEmpty<T> {
  return list.length > 0;
}

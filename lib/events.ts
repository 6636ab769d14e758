import { EventEmitter } from 'events';
import { asError } from './errors.ts';

/** Where a statement went, and why. */
export interface RouteEvent {
  readonly host: string;
  readonly role: HostRole;
  readonly intent: string;
  /** For people: `only reads`, `calls nextval`, `hint: primary; …` */
  readonly reason: string;
}

/** A statement that a replica refused and the primary then ran. */
export interface MisrouteEvent {
  readonly host: string;
  readonly sql: string;
  /** What the replica answered. */
  readonly error: Error;
  /** Whether the text goes to the primary by itself from here on. */
  readonly learnt: boolean;
  /** How many statements of this client were re-run so far. */
  readonly count: number;
}

/** A host that turned out to have another role than the configuration, or the last look, said. */
export interface HostRoleEvent {
  readonly host: string;
  readonly role: HostRole;
  readonly was: HostRole;
}

/** A host that answers its probes from here on; its role and its lag say what it serves. */
export interface HostUpEvent {
  readonly host: string;
  readonly role: HostRole;
}

/** A host that serves no more, by what its probes say. */
export interface HostDownEvent {
  readonly host: string;
  readonly role: HostRole;
  /** What the probes met. */
  readonly reason: string;
}

/** A replica that fell too far behind to serve, or has caught up again. */
export interface HostLagEvent {
  readonly host: string;
  /** Undefined where it is not known. */
  readonly bytes: number | undefined;
  /** Undefined where it is not known. */
  readonly millis: number | undefined;
  /** Whether the replica may serve. */
  readonly isFit: boolean;
  readonly reason: string | undefined;
}

/** A host that serves nothing although it runs, and is not an old primary. */
export interface HostExcludedEvent {
  readonly host: string;
  /**
   * `foreign`: of another cluster; `unproved`: a primary that may be of another cluster; `another
   * primary`: beside the elected one; `old timeline`: a replica that follows an old primary.
   */
  readonly reason: 'foreign' | 'unproved' | 'another primary' | 'old timeline';
}

/** An old primary that gets no statements any more: the cluster has moved on to a higher timeline. */
export interface HostFencedEvent {
  readonly host: string;
  readonly timeline: number | undefined;
  readonly clusterTimeline: number;
}

/** A statement that is run again on another host. */
export interface RetryEvent {
  /** Where it failed. */
  readonly host: string;
  /** Where it runs next. */
  readonly next: string;
  readonly error: Error;
  /** The how manieth attempt comes: 2 for the first retry. */
  readonly attempt: number;
}

/** A list of replicas that could not be had, or not be used. */
export interface DiscoveryErrorEvent {
  readonly error: Error;
}

/** A host lacked what the session of a read wrote or saw: its answer was thrown away, and the read goes on elsewhere. */
export interface StaleEvent {
  readonly host: string;
}

/** What a server does in its cluster. */
export type HostRole = 'primary' | 'replica';

/** The events of `rwSplit(db)`, by name. */
export interface RWSplitEvents {
  route: [RouteEvent];
  misroute: [MisrouteEvent];
  retry: [RetryEvent];
  stale: [StaleEvent];
  'host:up': [HostUpEvent];
  'host:down': [HostDownEvent];
  'host:role': [HostRoleEvent];
  'host:lag': [HostLagEvent];
  'host:fenced': [HostFencedEvent];
  'host:excluded': [HostExcludedEvent];
  'discovery:error': [DiscoveryErrorEvent];
}

/** The emitter behind the `on` and `off` of `rwSplit(db)`. */
export class RWSplitEmitter extends EventEmitter<RWSplitEvents> {
  /** Tells listeners; one that throws harms neither the query nor the connection it is about. */
  tell<E extends keyof RWSplitEvents>(event: E, about: RWSplitEvents[E][0]): void {
    try {
      // Node types the arguments by a condition on E, which TypeScript leaves open in here.
      (this as EventEmitter).emit(event, about);
    } catch (error) {
      const { stack, message } = asError(error);
      process.emitWarning(
        `A listener of the event "${event}" of knex-rwsplit threw: ${stack ?? message}`,
      );
    }
  }
}

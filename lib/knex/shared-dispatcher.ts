import type { Connection } from '../hosts/host.ts';
import type { Session } from '../consistency/session.ts';
import type { DispatcherParts } from '../routing/dispatcher.ts';
import { Dispatcher } from '../routing/dispatcher.ts';
import type { Found } from '../routing/connection-finder.ts';
import type { Lease } from '../routing/lease.ts';
import type { Membership } from './membership.ts';

/**
 * The dispatcher of a client that shares its pools.
 *
 * It knows what the other clients have taken, as a connection may be given back by any of them, and
 * takes nothing more once its own client is destroyed.
 */
export class SharedDispatcher extends Dispatcher {
  readonly #membership: Membership;

  constructor(parts: DispatcherParts, membership: Membership) {
    super({ ...parts, share: membership.shared.share, signal: membership.ending.signal });
    this.#membership = membership;
    membership.dispatcher = this;
  }

  /** Whether this client itself has taken a connection. */
  holds(connection: Connection): boolean {
    return this.ownLeaseOf(connection) !== undefined || this.ownSessionOf(connection) !== undefined;
  }

  /** The lease that this client has of a connection. */
  ownLeaseOf(connection: Connection): Lease | undefined {
    return super.leaseOf(connection);
  }

  /** The session of this client that took a connection without a lease. */
  ownSessionOf(connection: Connection): Session | undefined {
    return super.handedOutTo(connection);
  }

  override leaseOf(connection: Connection): Lease | undefined {
    return super.leaseOf(connection) ?? this.#holderOf(connection)?.ownLeaseOf(connection);
  }

  override handedOutTo(connection: Connection): Session | undefined {
    return super.handedOutTo(connection) ?? this.#holderOf(connection)?.ownSessionOf(connection);
  }

  override releaseTaken(connection: Connection): boolean {
    if (super.releaseTaken(connection)) return true;
    return this.#holderOf(connection)?.releaseOwn(connection) ?? false;
  }

  /** Gives back a connection that the application took by this client. */
  releaseOwn(connection: Connection): boolean {
    return super.releaseTaken(connection);
  }

  override acquire(...request: Parameters<Dispatcher['acquire']>): Promise<Found> {
    return this.#membership.until(
      () => super.acquire(...request),
      ({ host, connection, leave }) => {
        leave?.();
        this.release(host, connection);
      },
    );
  }

  #holderOf(connection: Connection): SharedDispatcher | undefined {
    return this.#membership.shared.dispatchers.find(
      (other) => other !== this && other.holds(connection),
    );
  }
}

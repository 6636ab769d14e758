import type { Connection, Host } from '../hosts/host.ts';
import type { HostPool } from '../hosts/pool.ts';
import type { PendingAcquire } from '../hosts/pool-settings.ts';
import { listening } from './pool-listeners.ts';
import type { RWSplit } from './rw-split.ts';
import { sessionOf } from './session-scope.ts';
import { wantedOf } from './wanted.ts';

/** The members of `client.pool` that are not just the primary's. */
interface OwnMembers {
  acquire(): PendingAcquire<Connection>;
  readonly min: number;
  readonly max: number;
  release(connection: Connection): boolean;
  destroy(): Promise<void>;
}

/**
 * Makes what `client.pool` is: the pool of whichever host is the primary, as applications know it
 * from Knex. Readiness probes acquire from it, and metrics read its counters and listen to it.
 */
export function createPoolFacade(split: RWSplit, onDestroyed: () => void): HostPool<Connection> {
  const own: OwnMembers = {
    get min() {
      return primaryOf(split).pool.minimum;
    },
    get max() {
      return primaryOf(split).pool.maximum;
    },
    acquire() {
      const session = sessionOf(split.state);
      const wanted = wantedOf(split.state);
      const acquired = primaryOf(split).pool.acquire();
      const pending = split.membership?.untilAborted(acquired) ?? acquired;
      void pending.promise.then(
        (connection) => split.dispatcher.noteHandedOut(connection, session, wanted),
        () => undefined,
      );
      return pending;
    },
    /** To the pool that the connection came from. */
    release: (connection) => split.dispatcher.releaseTaken(connection),
    /** Closes the pools of all hosts. */
    async destroy() {
      await split.destroy();
      onDestroyed();
    },
  };

  if (split.membership !== undefined) {
    Object.assign(
      own,
      listening(split.membership.listeners, () => primaryOf(split).pool),
    );
  }

  return new Proxy(primaryOf(split).pool, {
    get(_, key) {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key);
      const { pool } = primaryOf(split);
      const member: unknown = Reflect.get(pool, key);
      return typeof member === 'function' ? member.bind(pool) : member;
    },
  });
}

// While no primary is known, the one of the configuration stands for it.
function primaryOf(split: RWSplit): Host {
  const { routable, hosts } = split.cluster;
  const [primary] = [...routable.primary, ...hosts];
  if (primary === undefined) throw new Error('A cluster has at least one host.');
  return primary;
}

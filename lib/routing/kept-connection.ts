import { connectionState } from '../hosts/connection-state.ts';
import type { Connection, Host } from '../hosts/host.ts';
import type { DetachedConnection } from '../hosts/pool.ts';

/** A connection that is out of its pool because its session holds advisory locks. */
export interface KeptConnection {
  readonly host: Host;
  readonly connection: Connection;
  readonly detached: DetachedConnection<Connection>;
}

/** Whether nobody knows any more what a kept session is up to, or it has ended. */
export function isLost({ connection }: KeptConnection): boolean {
  return ['ended', 'given up'].includes(connectionState(connection));
}

/** Whether a kept session has ended, and its locks with it. */
export function hasEnded({ connection }: KeptConnection): boolean {
  return connectionState(connection) === 'ended';
}

import type { Lease } from '../routing/lease.ts';
import type { PgClient } from './internals.ts';

// By the client that Knex makes for each transaction.
const leases = new WeakMap<PgClient, Lease | undefined>();

/** Notes under which lease the connection of a transaction is in use, if under any. */
export function noteTransactionLease(client: PgClient | undefined, lease: Lease | undefined): void {
  if (client !== undefined) leases.set(client, lease);
}

/**
 * Whether a statement comes after its transaction has ended: Knex refuses it, and its connection is
 * somebody else's, or nobody's.
 *
 * @param lease under which the connection of the transaction is in use now.
 */
export function isOver(client: PgClient, lease: Lease | undefined): boolean {
  return client.transacting === true && leases.has(client) && leases.get(client) !== lease;
}

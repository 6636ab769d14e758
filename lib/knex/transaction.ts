import type { RouteRequest } from '../routing/route.ts';
import { assertInState } from './assert-in-state.ts';
import { leaseFresh } from './lease-fresh.ts';
import type { PgClient, Transaction, TransactionConfig } from './internals.ts';
import type { WantedState } from '../state/wanted-state.ts';
import { consistencyOf } from './needs.ts';
import type { RWSplit } from './rw-split.ts';
import { sessionOf } from './session-scope.ts';
import { currentScope } from './scope.ts';
import type { Scope } from './scope.ts';
import { wantedOf } from './wanted.ts';

/**
 * Gives a transaction its connection: of a replica if it only reads, else of the primary.
 *
 * Knex evaluates a transaction in a later turn, so that its instance can still be told here.
 */
export function routeTransaction(split: RWSplit, transaction: Transaction, client: PgClient): void {
  const scopeAtStart = currentScope();
  const session = sessionOf(split.state);
  const state = wantedOf(split.state, client);
  const withConnection = transaction.acquireConnection.bind(transaction);

  transaction.acquireConnection = async (config, use) => {
    // The application's own connection is used as it is, and never released.
    if (config?.connection !== undefined) {
      assertInState(split, config.connection, client);
      return withConnection(config, use);
    }

    const wanted = requestOf(config, scopeAtStart, state);
    const consistency = consistencyOf(split, wanted.intent, { scope: wanted.scope }, session);
    const lease = await leaseFresh(split, { ...wanted, ...consistency, state });
    lease.mayRerun = false;
    lease.isTransaction = true;
    try {
      return await withConnection({ ...config, connection: lease.connection }, use);
    } finally {
      // Knex leaves its mark on a connection that it believes to be the application's. To delete it
      // would make each later use of the connection slower.
      (lease.connection as { __knexTxId?: string | undefined }).__knexTxId = undefined;
      await lease.release();
    }
  };
}

function requestOf(
  config: TransactionConfig | undefined,
  scope: Scope | undefined,
  state: WantedState | undefined,
): RouteRequest {
  // A standby knows no serializable transactions, not even reading ones.
  const usual = state?.isSerializable === true ? 'serializable' : undefined;
  const mayRead = config?.readOnly === true && (config.isolationLevel ?? usual) !== 'serializable';
  if (mayRead && scope?.isTask !== true) {
    return {
      intent: 'read',
      proved: true,
      reason: 'a read-only transaction',
      scope: scope?.target,
    };
  }
  return { intent: 'write', proved: true, reason: 'a transaction', scope: scope?.target };
}

import type { RouteRequest } from '../routing/route.ts';
import { assertInState } from './assert-in-state.ts';
import { noteHeldChange } from './bound-statement.ts';
import { leaseFresh } from './lease-fresh.ts';
import type {
  PgClient,
  Transaction,
  TransactionConfig,
  TransactionConnection,
} from './internals.ts';
import type { WantedState } from '../state/wanted-state.ts';
import { consistencyOf } from './needs.ts';
import type { RWSplit } from './rw-split.ts';
import { sessionOf } from './session-scope.ts';
import { currentScope } from './scope.ts';
import type { Scope } from './scope.ts';
import { noteTransactionLease } from './transaction-lease.ts';
import { wantedOf } from './wanted.ts';

/**
 * Gives a transaction its connection: of a replica if it only reads, else of the primary.
 *
 * Knex evaluates a transaction in a later turn, so that its instance can still be told here.
 */
export function routeTransaction(split: RWSplit, transaction: Transaction, client: PgClient): void {
  const scopeAtStart = currentScope();
  const sessionThen = sessionOf(split.state);
  const state = wantedOf(split.state, client);
  const withConnection = transaction.acquireConnection.bind(transaction);

  transaction.acquireConnection = async (config, run) => {
    const use: typeof run = (connection) => {
      const ended = run(connection);
      noteTransactionLease(transaction.trxClient, split.dispatcher.leaseOf(connection));
      return ended;
    };
    // The application's own connection is used as it is, and never released.
    if (config?.connection !== undefined) {
      assertInState(split, config.connection, client);
      try {
        return await withConnection(config, use);
      } finally {
        const lease = split.dispatcher.leaseOf(config.connection);
        if (lease !== undefined) noteHeldChange(split, lease);
      }
    }

    const { intent, reason, scope } = wantedBy(config, scopeAtStart, state);
    const { session, isTracked, need, isStrong } = consistencyOf(
      split,
      intent,
      { scope },
      sessionThen,
    );
    const lease = await leaseFresh(split, {
      intent,
      proved: true,
      reason,
      hint: undefined,
      scope,
      state,
      session,
      isTracked,
      need,
      isStrong,
    });
    lease.mayRerun = false;
    lease.isTransaction = true;
    const connection: TransactionConnection = lease.connection;
    try {
      connection.__knexTxId = transaction.txid;
      return await use(connection);
    } finally {
      // To delete the mark would make each later use of the connection slower.
      connection.__knexTxId = undefined;
      const released = lease.release();
      if (released !== undefined) await released;
    }
  };
}

function wantedBy(
  config: TransactionConfig | undefined,
  scope: Scope | undefined,
  state: WantedState | undefined,
): Pick<RouteRequest, 'intent' | 'reason' | 'scope'> {
  // A standby knows no serializable transactions, not even reading ones.
  const usual = state?.isSerializable === true ? 'serializable' : undefined;
  const mayRead = config?.readOnly === true && (config.isolationLevel ?? usual) !== 'serializable';
  if (mayRead && scope?.isTask !== true) {
    return { intent: 'read', reason: 'a read-only transaction', scope: scope?.target };
  }
  return { intent: 'write', reason: 'a transaction', scope: scope?.target };
}

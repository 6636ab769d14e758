import type { Connection } from '../hosts/host.ts';
import type { Lease, LeaseDescription } from '../routing/lease.ts';
import type { Acquired } from '../routing/acquire.ts';
import type { Refusal } from '../routing/misroute.ts';
import { judgeRefusal } from '../routing/misroute.ts';
import { debugMisroute } from './debug.ts';
import type { CompiledStatement } from './internals.ts';
import type { RWSplit } from './rw-split.ts';

/** Sends a statement on a connection, as plain Knex does. */
export type Send<T> = (connection: Connection) => Promise<T>;

const onThePrimary = { intent: 'write', proved: true, reason: 'a replica refused it' } as const;

/** What Knex's events show of where a statement runs. */
export function describeRoute(lease: Lease): LeaseDescription {
  const { host, route } = lease;
  lease.description ??= { host: host.name, role: host.role, reason: route.reason };
  return lease.description;
}

/**
 * Runs a statement where its lease says, and once more on the primary if a replica answers that it
 * needs the primary.
 *
 * Below Knex's events, so that those show one query, and where it ended up.
 */
export function runStatement<T>(
  split: RWSplit,
  lease: Lease,
  statement: CompiledStatement,
  send: Send<T>,
): Promise<T> {
  const sent = send(lease.connection);
  lease.running = sent;
  if (!lease.mayRerun || lease.host.role !== 'replica') return sent;

  return sent.catch((error: unknown) => rerun(split, lease, statement, send, error));
}

async function rerun<T>(
  split: RWSplit,
  lease: Lease,
  statement: CompiledStatement,
  send: Send<T>,
  error: unknown,
): Promise<T> {
  const refusal = judgeRefusal(error);
  // A stream may have given rows since the statement was sent.
  if (refusal === 'none' || !lease.mayRerun) throw error;

  const primary = await acquirePrimary(split, lease, refusal);
  if (primary === undefined) throw error;
  // The query was given up meanwhile (a timeout, a closed stream): nobody waits for the primary.
  if (lease.isReleased || lease.isCancelled) {
    split.dispatcher.release(primary.host, primary.connection);
    throw error;
  }

  const refusedBy = lease.host.name;
  split.dispatcher.move(lease, primary.host, primary.connection);
  lease.mayRerun = false;
  lease.description = { ...describeRoute(lease), reason: onThePrimary.reason };
  statement.rwSplit = lease.description;
  const sent = send(primary.connection);
  lease.running = sent;
  const answer = await sent;

  noteMisroute(split, lease, refusedBy, error as Error, refusal === 'rerun-and-learn');
  return answer;
}

async function acquirePrimary(
  split: RWSplit,
  { acquireMillisLeft }: Lease,
  refusal: Refusal,
): Promise<Acquired | undefined> {
  // What a replica may merely lack is, most often, a mistake in the text: not worth a wait.
  const [primary] = split.cluster.routable.primary;
  if (refusal === 'rerun' && primary?.pool.hasRoom() !== true) return undefined;
  return split.dispatcher.acquire(onThePrimary, acquireMillisLeft).catch(() => undefined);
}

function noteMisroute(
  split: RWSplit,
  lease: Lease,
  host: string,
  error: Error,
  learnt: boolean,
): void {
  const { text: sql } = lease;
  if (learnt) split.misroutes.learn(sql);
  const count = split.misroutes.countRerun();
  debugMisroute('%s refused a statement that the primary ran: %s', host, error.message);
  split.events.tell('misroute', { host, sql, error, learnt, count });
}

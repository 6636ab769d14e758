import { systemClock } from '../clock.ts';
import { asError } from '../errors.ts';
import type { Connection } from '../hosts/host.ts';
import type { Acquired } from '../routing/acquire.ts';
import { BehindError } from '../routing/behind-error.ts';
import { judgeStatementError } from '../routing/failure.ts';
import type { Lease, LeaseDescription } from '../routing/lease.ts';
import { planRerun } from '../routing/rerun.ts';
import { judgeRefusal } from '../routing/misroute.ts';
import { consistentSend } from './consistent-send.ts';
import { debugMisroute, debugRetry } from './debug.ts';
import { describeError, noteAttempt } from './failed-attempt.ts';
import { fresherHost } from './fresher-host.ts';
import { nextHost } from './next-host.ts';
import type { CompiledStatement } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import { textOf } from './statement-text.ts';

/** Sends a statement on a connection, as plain Knex does. */
export type Send<T> = (connection: Connection) => Promise<T>;

/** What runs again, and how. */
interface Running<T> {
  readonly split: RWSplit;
  readonly lease: Lease;
  readonly statement: CompiledStatement;
  readonly send: Send<T>;
}

/** What Knex's events show of where a statement runs. */
export function describeRoute(lease: Lease): LeaseDescription {
  const { host, route } = lease;
  lease.description ??= { host: host.name, role: host.role, reason: route.reason };
  return lease.description;
}

/**
 * Runs a statement where its lease says, and again on other hosts where its failure says that it
 * was not run, or only read.
 *
 * Below Knex's events, so that those show one query, and where it ended up.
 */
export function runStatement<T>(
  split: RWSplit,
  lease: Lease,
  statement: CompiledStatement,
  sendAsIs: Send<T>,
  isStream = false,
): Promise<T> {
  const send = consistentSend(split, lease, statement, sendAsIs, isStream);
  if (lease.isGuarded) return send(lease.connection);
  return recovered(split, lease, statement, send);
}

/** As {@link runStatement}, of what is sent as it is. */
export function recovered<T>(
  split: RWSplit,
  lease: Lease,
  statement: CompiledStatement,
  send: Send<T>,
): Promise<T> {
  const sent = send(lease.connection);
  lease.running = sent;
  return sent.catch((error: unknown) => recover({ split, lease, statement, send }, error));
}

async function recover<T>(running: Running<T>, thrown: unknown): Promise<T> {
  const { split, lease, statement } = running;
  const deadline = systemClock.now() + lease.acquireMillisLeft;
  // Each statement of a transaction has its own.
  lease.attempts = undefined;
  let error = thrown;
  for (;;) {
    if (error instanceof BehindError) {
      // oxlint-disable-next-line no-await-in-loop -- as below.
      moveOn(running, await fresherHost(split, lease, error, deadline), error);
      // oxlint-disable-next-line no-await-in-loop -- as below.
      const outcome = await attempt(running);
      if (outcome.status === 'fulfilled') return outcome.value;
      error = outcome.reason;
      continue;
    }
    const failure = judgeStatementError(error, lease.hostRole);
    noteAttempt(split, lease, failure, error);
    const rerun = planRerun(lease, failure);
    // oxlint-disable-next-line no-await-in-loop -- one attempt after the other.
    const next = rerun && (await nextHost(split, lease, rerun, deadline));
    if (next === undefined) throw describeError(error, lease, failure, textOf(statement));

    const refused = error;
    moveOn(running, next, asError(error));
    const isMisroute = rerun === 'primary' || rerun === 'primary-soon';
    lease.mayHaveWritten ||= isMisroute;
    // oxlint-disable-next-line no-await-in-loop -- as above.
    const outcome = await attempt(running);
    if (outcome.status === 'rejected') {
      error = outcome.reason;
      continue;
    }
    if (isMisroute) noteMisroute(split, lease, refused);
    return outcome.value;
  }
}

async function attempt<T>({ lease, send }: Running<T>): Promise<PromiseSettledResult<T>> {
  const sent = send(lease.connection);
  lease.running = sent;
  const [outcome] = await Promise.allSettled([sent]);
  return outcome;
}

function moveOn<T>({ split, lease, statement }: Running<T>, next: Acquired, error: Error): void {
  const from = lease.host;
  const isRefusal = judgeRefusal(error) !== 'none';
  split.dispatcher.move(lease, next);
  if (isRefusal && next.host.role === 'primary') lease.mayRerun = false;
  const isBehind = error instanceof BehindError;
  const failed = `${from.name} ${isBehind ? 'is behind' : 'failed it'}`;
  const reason = isRefusal ? 'a replica refused it' : failed;
  lease.description = { ...describeRoute(lease), reason };
  statement.rwSplit = lease.description;
  if (isBehind) return;

  debugRetry(
    '%s failed a statement that %s runs next: %s',
    from.name,
    next.host.name,
    error.message,
  );
  const attempt = (lease.attempts?.length ?? 0) + 1;
  split.events.tell('retry', { host: from.name, next: next.host.name, error, attempt });
}

function noteMisroute(split: RWSplit, lease: Lease, error: unknown): void {
  const { text: sql, attempts, state } = lease;
  const learnt = judgeRefusal(error) === 'rerun-and-learn';
  if (learnt) split.misroutes.learn(sql, state?.catalogKey);
  const count = split.misroutes.countRerun();
  const host = attempts?.at(-1)?.host ?? '';
  debugMisroute('%s refused a statement that the primary ran: %s', host, asError(error).message);
  split.events.tell('misroute', { host, sql, error: asError(error), learnt, count });
}

import { asError } from '../errors.ts';
import type { HostRole } from '../events.ts';
import { noteEvidence } from '../routing/evidence.ts';
import type { Failure } from '../routing/failure.ts';
import type { Attempt, Lease } from '../routing/lease.ts';
import { isOutcomeUnknown } from '../routing/rerun.ts';
import type { RWSplit } from './rw-split.ts';

/** What an error says of where its statement ran, as its field `rwSplit`. */
export interface ErrorRoute {
  /** Where the statement ran last. */
  readonly host: string;
  readonly role: HostRole;
  /** Every attempt that failed, this one last. */
  readonly attempts: readonly Attempt[];
  /** `unknown`: it was sent, its answer was lost, and it may have changed what it was to change. */
  readonly outcome?: 'unknown' | undefined;
}

/** Takes note of a failed attempt: against its host, its connection, and for the error that may be thrown. */
export function noteAttempt(split: RWSplit, lease: Lease, failure: Failure, error: unknown): void {
  const { host, connection } = lease;
  if (failure.isConnectionLost) split.sessionChanges.spoil(connection);
  if (failure.isLeftRunning === true) {
    split.abandon(connection);
    // It would take as long there once more.
    (lease.tried ??= new Set()).add(host);
  }
  noteEvidence(split.cluster, host, failure.host, asError(error));

  const { message } = asError(error);
  // Node's own errors are of another realm in a test runner: no instance of its Object.
  const hasCode = typeof error === 'object' && error !== null && 'code' in error;
  const code = hasCode ? String(error.code) : undefined;
  lease.attempts ??= [];
  lease.attempts.push({ host: host.name, role: host.role, code, message });
}

/** Adds to an error where its statement ran, and nothing else. */
export function describeError(
  error: unknown,
  lease: Lease,
  failure: Failure,
  text: string,
): unknown {
  if (typeof error !== 'object' || error === null || !Object.isExtensible(error)) return error;

  const { host, attempts } = lease;
  const isUnknown = isOutcomeUnknown(lease, failure, text);
  const route: ErrorRoute = {
    host: host.name,
    role: host.role,
    attempts: [...(attempts ?? [])],
    ...(isUnknown ? { outcome: 'unknown' } : {}),
  };
  return Object.assign(error, { rwSplit: route });
}

import { groupBy } from './group-by.ts';
import type { History, HistoryEvent, ReadOperation } from './history.ts';
import { type Written, writtenIn } from './history-writes.ts';

/** A promise that a history breaks, by what was or was not seen. */
export interface Violation {
  readonly rule:
    | 'no lost write'
    | 'read your writes'
    | 'monotonic reads'
    | 'monotonic writes'
    | 'whole transactions'
    | 'no invented write';
  readonly key: string;
  readonly version: string;
  /** The event that saw it; absent where it is the final state that is wrong. */
  readonly event?: HistoryEvent;
}

/** The versions of each key on the primary after all. */
export type FinalState = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Finds every promise that a history breaks.
 *
 * A write of unknown outcome may be seen or not, and may be lost with a primary. Whatever else was
 * seen once has to stay for a monotonic session.
 */
export function findViolations(history: History, final: FinalState): Violation[] {
  const writes = writtenIn(history);
  const bySession = groupBy(history, ({ session }) => session);

  return [
    ...checkFinalState(writes, final),
    ...history.flatMap((event) => readsOf(event).flatMap((read) => checkRead(event, read, writes))),
    ...[...bySession.values()].flatMap((events) => checkSession(events, writes, final)),
  ];
}

function checkFinalState(writes: ReadonlyMap<string, Written>, final: FinalState): Violation[] {
  const violations: Violation[] = [];
  for (const { key, version, event } of writes.values()) {
    const isThere = final.get(key)?.has(version) === true;
    if (event.outcome === 'ok' && !isThere) {
      violations.push({ rule: 'no lost write', key, version });
    }
    if (event.outcome === 'failed' && isThere) {
      violations.push({ rule: 'no invented write', key, version });
    }
  }
  for (const [key, versions] of final) {
    for (const version of versions) {
      if (writes.get(version)?.key !== key) {
        violations.push({ rule: 'no invented write', key, version });
      }
    }
  }
  return violations;
}

/** Checks what holds for a read of anybody, on any server. */
function checkRead(
  event: HistoryEvent,
  { key, versions }: ReadOperation,
  writes: ReadonlyMap<string, Written>,
): Violation[] {
  const violations: Violation[] = [];
  const seen = new Set(versions);
  for (const version of seen) {
    const write = writes.get(version);
    const isOwn = write?.event === event;
    if (
      write?.key !== key ||
      (!isOwn && write.event.outcome === 'failed') ||
      write.event.beganAt > event.endedAt
    ) {
      violations.push({ rule: 'no invented write', key, version, event });
      continue;
    }
    // A session in its own transaction sees one write after the other.
    if (!isOwn) {
      for (const missing of write.together) {
        if (!seen.has(missing)) {
          violations.push({ rule: 'whole transactions', key, version: missing, event });
        }
      }
    }
    for (const missing of write.before) {
      if (!seen.has(missing)) {
        violations.push({ rule: 'monotonic writes', key, version: missing, event });
      }
    }
  }
  return violations;
}

/** Checks what a session's reads have to see by what was acknowledged to it before they began. */
function checkSession(
  events: readonly HistoryEvent[],
  writes: ReadonlyMap<string, Written>,
  final: FinalState,
): Violation[] {
  const violations: Violation[] = [];
  const written = new Versions();
  const seen = new Versions();
  const ended = events.toSorted((one, other) => one.endedAt - other.endedAt);
  let next = 0;

  for (const event of events.toSorted((one, other) => one.beganAt - other.beganAt)) {
    for (let past = ended[next]; past && past.endedAt <= event.beganAt; past = ended[++next]) {
      for (const operation of past.operations) {
        if (operation.kind === 'write') {
          if (past.outcome === 'ok') written.add(operation.key, operation.version);
        } else if (past.isMonotonic) {
          for (const version of operation.versions) {
            if (mustStay(version, writes, final)) seen.add(operation.key, version);
          }
        }
      }
    }
    const own = new Versions();
    for (const operation of event.operations) {
      if (operation.kind === 'write') {
        own.add(operation.key, operation.version);
        continue;
      }
      const { key } = operation;
      const found = new Set(operation.versions);
      const demand = (rule: Violation['rule'], versions: Iterable<string>): void => {
        for (const version of versions) {
          if (found.has(version)) continue;
          violations.push({ rule, key, version, event });
          // Once is enough for a version that is missing.
          found.add(version);
        }
      };
      demand('read your writes', [...written.of(key), ...own.of(key)]);
      if (event.isMonotonic) demand('monotonic reads', seen.of(key));
    }
  }
  return violations;
}

/** Whether a version that was seen must be seen ever after. */
function mustStay(
  version: string,
  writes: ReadonlyMap<string, Written>,
  final: FinalState,
): boolean {
  const write = writes.get(version);
  if (write === undefined || write.event.outcome === 'failed') return false;
  return write.event.outcome === 'ok' || final.get(write.key)?.has(version) === true;
}

/** Versions by their keys. */
class Versions {
  readonly #ofKey = new Map<string, Set<string>>();

  add(key: string, version: string): void {
    this.#ofKey.set(key, this.of(key).add(version));
  }

  of(key: string): Set<string> {
    return this.#ofKey.get(key) ?? new Set();
  }
}

function readsOf({ operations }: HistoryEvent): ReadOperation[] {
  return operations.filter((operation) => operation.kind === 'read');
}

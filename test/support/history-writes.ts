import { groupBy } from './group-by.ts';
import type { History, HistoryEvent } from './history.ts';

/** One version of a key, and what has to be there wherever it is. */
export interface Written {
  readonly key: string;
  readonly version: string;
  readonly event: HistoryEvent;
  /** The other versions that its transaction gave the key. */
  readonly together: readonly string[];
  /** What its session had given the key, with success, before it began. */
  readonly before: readonly string[];
}

/** Every write of a history by its version, whatever became of it. */
export function writtenIn(history: History): ReadonlyMap<string, Written> {
  const written = new Map<string, Written>();
  const ofSession = groupBy(history.flatMap(writesOf), ({ key, event }) =>
    JSON.stringify([event.session, key]),
  );
  for (const writes of ofSession.values()) {
    for (const { key, version, event } of writes) {
      written.set(version, {
        key,
        version,
        event,
        together: writes
          .filter((other) => other.event === event && other.version !== version)
          .map((other) => other.version),
        before: writes
          .filter((other) => other.event.outcome === 'ok' && other.event.endedAt <= event.beganAt)
          .map((other) => other.version),
      });
    }
  }
  return written;
}

interface Write {
  readonly key: string;
  readonly version: string;
  readonly event: HistoryEvent;
}

function writesOf(event: HistoryEvent): Write[] {
  return event.operations.flatMap((operation) =>
    operation.kind === 'write' ? { key: operation.key, version: operation.version, event } : [],
  );
}

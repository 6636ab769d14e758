import { groupBy } from './group-by.ts';
import type { History, HistoryEvent } from './history.ts';

/** One version of a key, and what has to be there wherever it is. */
export interface Written {
  readonly key: string;
  readonly version: string;
  readonly event: HistoryEvent;
  /** The other versions that its transaction gave the key. */
  readonly together: readonly string[];
  /**
   * What its session had given the key, with success, right before it began: what came earlier has to
   * be there wherever these are.
   */
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
        before: lastBefore(event, writes),
      });
    }
  }
  return written;
}

function lastBefore({ beganAt }: HistoryEvent, writes: readonly Write[]): string[] {
  const earlier = writes.filter(({ event }) => event.outcome === 'ok' && event.endedAt <= beganAt);
  const latest = earlier.reduce((most, { event }) => Math.max(most, event.beganAt), 0);
  return earlier.filter(({ event }) => event.endedAt >= latest).map(({ version }) => version);
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

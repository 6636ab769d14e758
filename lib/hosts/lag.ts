import type { MaxLagSettings } from '../config/settings.ts';
import type { Lsn } from '../consistency/lsn.ts';
import type { ServerReport } from './server-report.ts';

/** How far a replica is behind its primary; undefined is unknown. */
export interface Lag {
  readonly bytes: number | undefined;
  readonly millis: number | undefined;
}

/** From when to when the primary was seen at a position. */
interface Sighting {
  readonly position: Lsn;
  readonly firstAt: number;
  lastAt: number;
}

// At the default interval about twenty minutes; beyond that every second sighting goes.
const MAX_SIGHTINGS = 256;

/**
 * Measures lag by where the primary was seen, and when.
 *
 * The age of the last replayed transaction alone grows on an idle primary, and "all received is
 * replayed" holds for a replica that is cut off. A replica that has replayed what the primary had
 * written at a moment was, at that moment, not behind; one that hasn't is behind since then at least.
 */
export class LagMeter {
  readonly #staleMillis: number;
  #sightings: Sighting[] = [];

  /** @param staleMillis how long ago a primary may have been seen last to be measured by. */
  constructor(staleMillis: number = Number.POSITIVE_INFINITY) {
    this.#staleMillis = staleMillis;
  }

  /** Notes where the primary is, as asked at `at`. */
  note(position: Lsn, at: number): void {
    const last = this.#sightings.at(-1);
    if (last !== undefined && position <= last.position) {
      last.lastAt = at;
      return;
    }
    this.#sightings.push({ position, firstAt: at, lastAt: at });
    if (this.#sightings.length > MAX_SIGHTINGS) {
      // From the first to the last: the newest is what replicas are measured by.
      this.#sightings = this.#sightings.filter((_, index) => index % 2 === 0);
    }
  }

  /** Forgets every position, as after a promotion, which may have abandoned some of them. */
  forget(): void {
    this.#sightings = [];
  }

  /**
   * Says how far a replica is behind.
   *
   * @param now the moment of the report; absent while there is no primary, which nobody can fall behind.
   */
  lagOf(report: ServerReport, now: number | undefined): Lag {
    const { position } = report;
    const last = this.#sightings.at(-1);
    if (position === undefined || last === undefined) {
      return now === undefined ? lagWithoutPrimary(report) : lagOfItself(report);
    }
    // It is there, and does not say where it is by now.
    if (now !== undefined && now - last.lastAt > this.#staleMillis) return lagOfItself(report);
    if (position >= last.position) return { bytes: 0, millis: 0 };
    const bytes = Number(last.position - position);
    const moment = now ?? last.lastAt;
    const missed = this.#sightings.find((sighting) => sighting.position > position);
    const reached = this.#sightings.findLast((sighting) => sighting.position <= position);
    const atLeast = moment - (missed?.firstAt ?? moment);
    const known = [
      reached === undefined ? undefined : moment - reached.lastAt,
      report.replayAgeMillis,
    ].filter((millis) => millis !== undefined);
    const atMost = known.length === 0 ? atLeast : Math.min(...known);
    return { bytes, millis: Math.max(0, atLeast, atMost) };
  }
}

// Without the primary's position (another engine, a lack of privileges) the replica's own word counts.
function lagOfItself(report: ServerReport): Lag {
  const { position, receivedPosition, replayAgeMillis, isReceiving } = report;
  const hasAll = position !== undefined && position === receivedPosition;
  return {
    bytes: undefined,
    millis: isReceiving === true && hasAll ? 0 : replayAgeMillis,
  };
}

// Of a primary that was never seen, and has gone, nothing can be missed but what was received of it:
// the age of the last transaction would soon take every replica out of use.
function lagWithoutPrimary(report: ServerReport): Lag {
  const { position, receivedPosition, replayAgeMillis } = report;
  if (position === undefined) return lagOfItself(report);
  const bytes = Math.max(0, Number((receivedPosition ?? position) - position));
  return { bytes, millis: bytes === 0 ? 0 : replayAgeMillis };
}

/**
 * Says what is wrong with a replica's lag; undefined where it may serve.
 *
 * One that lagged returns only at half the limit, so that reads don't come and go with each probe.
 */
export function lagProblem(
  lag: Lag,
  limits: MaxLagSettings | false,
  wasLagging: boolean,
): string | undefined {
  if (limits === false) return undefined;
  return (
    problemOf(lag.millis, limits.millis, wasLagging, 'ms', 'millis') ??
    problemOf(lag.bytes, limits.bytes, wasLagging, 'bytes', 'bytes')
  );
}

function problemOf(
  value: number | undefined,
  limit: number | undefined,
  wasLagging: boolean,
  unit: string,
  option: string,
): string | undefined {
  if (limit === undefined) return undefined;
  if (value === undefined) {
    return `how far it lags is unknown, and rwSplit.maxLag.${option} is ${limit}; the server does not tell, so maxLag: false is what lets it serve`;
  }
  const allowed = wasLagging ? limit / 2 : limit;
  if (value <= allowed) return undefined;
  return `lags ${Math.round(value)} ${unit}, and may ${allowed} ${unit}`;
}

import type { HealthSettings } from '../config/settings.ts';

/** What a failed probe or query says of a host; each is probed again at its own pace. */
export type Trouble = 'silent' | 'refused' | 'starting' | 'misconfigured';

/** Why a host is not simply up. */
export interface Ailment {
  readonly trouble: Trouble;
  /** For people: what was seen. */
  readonly reason: string;
}

interface Course {
  /** When the state was entered, on the clock. */
  readonly since: number;
  /** Failures that slow the probes down; forgotten once the host has stayed up for long enough. */
  readonly setbacks: number;
  /** When the host was last let back in, which is when its share of the reads starts to grow. */
  readonly readmittedAt: number | undefined;
}

/**
 * How a host does: `unknown` until it was looked at, `up`, `suspect` after a failure that may be
 * none, `down`, or `half-open` while probes find it well again and no query may.
 */
export type Health = Course &
  (
    | { readonly state: 'unknown' }
    | { readonly state: 'up' }
    | (Ailment & { readonly state: 'suspect'; readonly failures: number })
    | (Ailment & { readonly state: 'down' })
    | (Ailment & { readonly state: 'half-open'; readonly successes: number })
  );

// A host that may be failing, or starting, is looked at this soon.
const SUSPECT_MILLIS = 250;
const STARTING_MILLIS = 1000;

// The first delay of a host that is down; each failure doubles it.
const BACKOFF_MILLIS = 1000;

// How much of its delay a probe has waited for at the least, whatever its jitter.
const SOONEST = 0.75;

// A host of which nothing else is known for so long is not starting.
const MAX_STARTING_SETBACKS = 30;

/** Before anything is known. */
export const unknownHealth: Health = Object.freeze({
  state: 'unknown',
  since: 0,
  setbacks: 0,
  readmittedAt: undefined,
});

/** What becomes of a host that answered a probe. */
export function afterGoodProbe(health: Health, now: number, settings: HealthSettings): Health {
  const { setbacks, readmittedAt } = health;
  switch (health.state) {
    case 'unknown':
    case 'suspect':
      return { state: 'up', since: now, setbacks, readmittedAt };
    case 'up': {
      const isSteady = now - health.since >= backoffMillis(setbacks, settings);
      return setbacks > 0 && isSteady ? { ...health, setbacks: 0 } : health;
    }
    case 'down':
    case 'half-open': {
      const { trouble, reason } = health;
      const successes = health.state === 'down' ? 1 : health.successes + 1;
      if (successes >= settings.rise) {
        return { state: 'up', since: now, setbacks, readmittedAt: now };
      }
      const since = health.state === 'down' ? now : health.since;
      return { state: 'half-open', since, setbacks, readmittedAt, successes, trouble, reason };
    }
    default:
      return health satisfies never;
  }
}

/** What becomes of a host that failed a probe. */
export function afterFailedProbe(
  health: Health,
  now: number,
  ailment: Ailment,
  settings: HealthSettings,
): Health {
  const { setbacks, readmittedAt } = health;
  switch (health.state) {
    case 'unknown':
    case 'up':
    case 'suspect': {
      const failures = health.state === 'suspect' ? health.failures + 1 : 1;
      // Waiting does not mend a configuration.
      if (failures >= settings.fall || ailment.trouble === 'misconfigured') {
        return { state: 'down', since: now, setbacks: setbacks + 1, readmittedAt, ...ailment };
      }
      const since = health.state === 'suspect' ? health.since : now;
      return { state: 'suspect', since, setbacks, readmittedAt, failures, ...ailment };
    }
    case 'down': {
      // Being asked more often, as while there is no primary, is no reason to be asked later.
      const isDue = now - health.since >= SOONEST * backoffMillis(setbacks, settings);
      return { ...health, ...ailment, setbacks: isDue ? setbacks + 1 : setbacks };
    }
    case 'half-open':
      return { state: 'down', since: now, setbacks: setbacks + 1, readmittedAt, ...ailment };
    default:
      return health satisfies never;
  }
}

/** What becomes of a host that failed a query or a connection, which a probe is to judge. */
export function afterSignal(health: Health, now: number, ailment: Ailment): Health {
  const { setbacks, readmittedAt } = health;
  switch (health.state) {
    case 'unknown':
    case 'up':
      return { state: 'suspect', since: now, setbacks, readmittedAt, failures: 0, ...ailment };
    case 'suspect':
    case 'down':
    case 'half-open':
      return health;
    default:
      return health satisfies never;
  }
}

/** How long until the next probe of a host, before jitter, in milliseconds. */
export function probeDelay(health: Health, settings: HealthSettings): number {
  const { intervalMillis } = settings;
  switch (health.state) {
    case 'unknown':
      return 0;
    case 'up':
      return intervalMillis;
    case 'suspect':
      return Math.min(intervalMillis, SUSPECT_MILLIS);
    case 'down': {
      const delay = backoffMillis(health.setbacks, settings);
      const isStarting = health.trouble === 'starting' && health.setbacks <= MAX_STARTING_SETBACKS;
      return isStarting ? Math.min(delay, STARTING_MILLIS) : delay;
    }
    case 'half-open':
      return Math.min(intervalMillis, backoffMillis(health.setbacks, settings));
    default:
      return health satisfies never;
  }
}

/** Whether nothing is known against asking a host something. */
export function isReachable({ state }: Health): boolean {
  return state === 'up' || state === 'unknown';
}

/** The share of its weight that a host has, from just above 0 to 1: a readmitted one ramps up. */
export function rampShare({ readmittedAt }: Health, now: number, slowStartMillis: number): number {
  if (readmittedAt === undefined || slowStartMillis <= 0) return 1;

  return Math.min(1, Math.max(0.1, (now - readmittedAt) / slowStartMillis));
}

function backoffMillis(setbacks: number, settings: HealthSettings): number {
  const { intervalMillis, backoffMaxMillis } = settings;
  const first = Math.min(BACKOFF_MILLIS, intervalMillis);
  return Math.min(backoffMaxMillis, first * 2 ** Math.max(0, setbacks - 1));
}

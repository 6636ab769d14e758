import { quantileOf } from '../quantile.ts';
import { type BalancerName, firstOf } from './balancers.ts';
import type { Observation } from './observation.ts';
import type { Setting } from './run-scenario.ts';
import type { Fate, Scenario } from './scenarios.ts';
import { weightOf } from './simulated-fleet.ts';

type Window = readonly [from: number, to: number];

/** How evenly replicas share the load, each by its weight: 1 is its even share. */
export interface Fairness {
  readonly mostToMean: number;
  readonly leastToMean: number;
  /** The standard deviation of the shares, whose mean is 1. */
  readonly variation: number;
  /** The shares from the least to the most, at twenty steps. */
  readonly shares: readonly number[];
}

/** How replicas return that were away, or slow. */
export interface Recovery {
  /** Their share, second by second from the beginning; 1 is as much as the others have. */
  readonly course: readonly number[];
  /** How long after their return they serve a query, in seconds; undefined where they never do. */
  readonly firstSeconds?: number | undefined;
  /** How long after their return they have nine tenths of an even share, in seconds. */
  readonly evenSeconds?: number | undefined;
  /** Queries at one of them at once, for its weight, at most, once they are back. */
  readonly mostAtOnce: number;
}

/** What a run shows. */
export interface Figures {
  readonly queries: number;
  readonly failures: number;
  readonly p50: number;
  readonly p99: number;
  /** The share of queries that took more than a second. */
  readonly lateShare: number;
  /** Undefined where the balancer is not meant to share. */
  readonly fairness?: Fairness | undefined;
  /** The share of the queries that were sent to replicas that do not do well. */
  readonly troubledShare: number;
  /** How those return that did not do well, by what had befallen them. */
  readonly recovery: Readonly<Partial<Record<Fate, Recovery>>>;
  /** As of those that return, of the others in the same time. */
  readonly mostAtOnceElsewhere: number;
}

const LATE_MILLIS = 1000;

/** Works out what an observation shows. */
export function figuresOf(
  seen: Observation,
  scenario: Scenario,
  balancer: BalancerName,
  { replicas }: Setting,
): Figures {
  const { window, fateOf } = scenario;
  const latencies = seen.latenciesIn(window);
  const places = Array.from({ length: replicas }, (_, place) => place);
  const sharing = places.slice(0, sharingCount(balancer, replicas));
  const of = (fate: Fate): readonly number[] => sharing.filter((place) => fateOf(place) === fate);
  const total = sum(places.map((place) => seen.givenIn(place, window)));
  const troubled = places.filter((place) => fateOf(place) !== 'well');
  const after: Window = [scenario.backAt ?? 0, scenario.seconds];
  const returning = [...new Set(sharing.map(fateOf))].filter((fate) => fate !== 'well');

  return {
    queries: latencies.length,
    failures: seen.failures,
    p50: quantileOf(latencies, 0.5),
    p99: quantileOf(latencies, 0.99),
    lateShare: latencies.filter((millis) => millis > LATE_MILLIS).length / latencies.length,
    fairness: sharing.length === 0 ? undefined : fairnessOf(seen, of('well'), window),
    troubledShare: sum(troubled.map((place) => seen.givenIn(place, window))) / total,
    recovery: Object.fromEntries(
      returning.map((fate) => [fate, recoveryOf(seen, of(fate), of('well'), after)]),
    ),
    mostAtOnceElsewhere: returning.length === 0 ? 0 : mostAtOnce(seen, of('well'), after),
  };
}

// Those that share the load while all are well.
function sharingCount(balancer: BalancerName, replicas: number): number {
  if (balancer === 'in-order') return 0;
  return balancer === 'priority' ? firstOf(replicas) : replicas;
}

const steps = Array.from({ length: 21 }, (_, step) => step / 20);

function fairnessOf(seen: Observation, places: readonly number[], window: Window): Fairness {
  const served = places.map((place) => seen.givenIn(place, window) / weightOf(place));
  const mean = sum(served) / served.length;
  const shares = served.map((count) => count / mean).toSorted((one, other) => one - other);
  return {
    mostToMean: shares.at(-1) ?? 0,
    leastToMean: shares[0] ?? 0,
    variation: Math.sqrt(sum(shares.map((share) => (share - 1) ** 2)) / shares.length),
    shares: steps.map((step) => quantileOf(shares, step)),
  };
}

// Shares are those of so many seconds, since a single one is a matter of chance.
const SMOOTH_SECONDS = 3;

const EVEN = 0.9;

function recoveryOf(
  seen: Observation,
  away: readonly number[],
  others: readonly number[],
  [from, to]: Window,
): Recovery {
  const shareIn = (window: Window): number =>
    perWeight(seen, away, window) / perWeight(seen, others, window);
  const seconds = Array.from({ length: to }, (_, second) => second);
  const since = (isReached: (second: number) => boolean): number | undefined => {
    const found = seconds.find((second) => second >= from && isReached(second));
    return found === undefined ? undefined : found + 1 - from;
  };
  return {
    course: seconds.map((second) => shareIn([second, second + 1])),
    firstSeconds: since((second) => shareIn([second, second + 1]) > 0),
    evenSeconds: since((second) => shareIn([second + 1 - SMOOTH_SECONDS, second + 1]) >= EVEN),
    mostAtOnce: mostAtOnce(seen, away, [from, to]),
  };
}

function perWeight(seen: Observation, places: readonly number[], window: Window): number {
  return sum(places.map((place) => seen.givenIn(place, window))) / sum(places.map(weightOf));
}

function mostAtOnce(seen: Observation, places: readonly number[], window: Window): number {
  return Math.max(...places.map((place) => seen.mostAtOnceIn(place, window) / weightOf(place)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** What was seen in a run, by the second. */
export class Observation {
  readonly startedAt: number[] = [];
  /** How long each query took that began at that time, in milliseconds. */
  readonly latencies: number[] = [];
  /** How many queries have no answer yet. */
  open = 0;
  /** How many queries failed for good. */
  failures = 0;
  /** How many queries each replica was given, second by second. */
  readonly given: number[][] = [];
  /** How many queries were at each replica at a time, at most, second by second. */
  readonly mostAtOnce: number[][] = [];

  /** Notes the answer of a query. */
  note(startedAt: number, latency: number): void {
    this.startedAt.push(startedAt);
    this.latencies.push(latency);
  }

  /** The latencies of the queries that began in a time, sorted. */
  latenciesIn([from, to]: readonly [from: number, to: number]): readonly number[] {
    return this.latencies
      .filter((_, index) => {
        const at = (this.startedAt[index] ?? 0) / 1000;
        return at >= from && at < to;
      })
      .toSorted((one, other) => one - other);
  }

  /** How many queries a replica was given in a time. */
  givenIn(place: number, [from, to]: readonly [from: number, to: number]): number {
    return this.given.slice(from, to).reduce((sum, second) => sum + (second[place] ?? 0), 0);
  }

  /** How many queries were at a replica at once, at most, in a time. */
  mostAtOnceIn(place: number, [from, to]: readonly [from: number, to: number]): number {
    return Math.max(...this.mostAtOnce.slice(from, to).map((second) => second[place] ?? 0));
  }
}

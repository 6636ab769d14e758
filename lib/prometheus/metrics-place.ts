import type { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Where the metrics of one Knex instance go, how their names begin, and what ends them. */
export class MetricsPlace {
  readonly registry: Registry;
  readonly #prefix: string;
  readonly #ends: (() => void)[] = [];

  constructor(registry: Registry, prefix: string) {
    this.registry = registry;
    this.#prefix = prefix;
  }

  nameOf(metric: string): string {
    return this.#prefix + metric;
  }

  /** Takes a metric out of the registry at the end, unless another one has its name by then. */
  own(metric: string, made: Counter | Gauge | Histogram): void {
    const name = this.nameOf(metric);
    this.atEnd(() => {
      if (this.registry.getSingleMetric(name) === made) this.registry.removeSingleMetric(name);
    });
  }

  atEnd(end: () => void): void {
    this.#ends.push(end);
  }

  /** Ends everything; a second time nothing. */
  end(): void {
    for (const end of this.#ends.splice(0)) end();
  }
}

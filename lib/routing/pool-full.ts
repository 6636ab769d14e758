import type { Host } from '../hosts/host.ts';
import type { PoolStats } from '../hosts/pool-settings.ts';

/** Every connection of the host stayed in use for the whole time that a query may wait. */
export class PoolFullError extends Error {
  readonly host: string;
  readonly stats: PoolStats;

  constructor(host: Host, waitedMillis: number, cause: unknown) {
    const stats = host.pool.stats;
    super(
      `no connection of ${host.name} became free within ${Math.round(waitedMillis)} ms ` +
        `(${stats.used} used, ${stats.free} free, ${stats.pending} pending, max ${stats.max})`,
      { cause },
    );
    this.host = host.name;
    this.stats = stats;
  }
}

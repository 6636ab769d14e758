/**
 * A registry of pools: the clients that are given it as `rwSplit.pools` share the pools of the same
 * hosts and users, and nothing with the clients of another registry.
 *
 * It holds nothing by itself, so that no print of a configuration shows what its pools are opened with.
 */
export class PoolRegistry {
  /** What errors call it. */
  readonly name: string;

  constructor(name = 'pools') {
    this.name = name;
  }
}

const processWide = new PoolRegistry('process');

/** The registry that an option `pools` means; a name, or none, is of the one of the whole process. */
export function registryOf(pools: string | PoolRegistry | undefined): PoolRegistry {
  return pools instanceof PoolRegistry ? pools : processWide;
}

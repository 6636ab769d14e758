import type { PoolRegistry } from '../config/pool-registry.ts';
import { registryOf } from '../config/pool-registry.ts';
import type { RWSplitSettings } from '../config/settings.ts';
import { ConfigError } from '../errors.ts';
import type { KnexClasses, PgClient } from './internals.ts';
import type { Membership } from './membership.ts';
import { PoolFacts } from './pool-facts.ts';
import { SharedPools } from './shared-pools.ts';
import type { SplitState } from './split-state.ts';

interface Entry {
  /** Undefined in a registry of the application's own, where pools are found by their hosts. */
  readonly name: string | undefined;
  readonly facts: PoolFacts;
  readonly shared: SharedPools;
}

const registries = new WeakMap<PoolRegistry, Set<Entry>>();

/**
 * Gives a client its part in the pools that it names, which are made where there are none; undefined
 * where it names none.
 *
 * @throws {ConfigError} when the pools are in use with other settings than the client's; nothing was opened.
 */
export function joinPools(
  client: PgClient,
  state: SplitState,
  settings: RWSplitSettings,
  classes: Pick<KnexClasses, 'PgDialect'>,
): Membership | undefined {
  const { pools } = settings;
  if (pools === undefined) return undefined;

  const name = typeof pools === 'string' ? pools : undefined;
  const entries = entriesOf(registryOf(pools));
  const facts = new PoolFacts(client, settings);
  const found = [...entries].find((entry) =>
    name === undefined ? entry.facts.hasHostsOf(facts) : entry.name === name,
  );
  if (found !== undefined) {
    const difference = facts.differenceTo(found.facts);
    if (difference !== undefined) throw otherSettings(pools, difference);
    return found.shared.add(client, state, settings);
  }

  const shared = new SharedPools(client, settings, classes, () => entries.delete(made));
  const made: Entry = { name, facts, shared };
  entries.add(made);
  return shared.add(client, state, settings);
}

function entriesOf(registry: PoolRegistry): Set<Entry> {
  let entries = registries.get(registry);
  if (entries === undefined) {
    entries = new Set();
    registries.set(registry, entries);
  }
  return entries;
}

// Not the values: they may be secret.
function otherSettings(pools: string | PoolRegistry, difference: string): ConfigError {
  const which =
    typeof pools === 'string'
      ? `the pools "${pools}" are`
      : `the pools of these hosts in the registry "${pools.name}" are`;
  return new ConfigError(
    difference,
    `rwSplit.pools: ${which} in use by a client that differs in ${difference}; give both the same, or pools of their own.`,
  );
}

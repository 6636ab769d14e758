import { type HostEntry, readHostEntry } from './host-entry.ts';
import type { Host, ReplicaDiscovery } from './host-options.ts';
import { madeOf } from './function-sources.ts';
import { invalidOption } from './invalid-option.ts';
import { type ReplicaBase, resolveReplicas } from './resolve-replicas.ts';
import type { HostSettings, RWSplitSettings } from './settings.ts';

/** What `replicas` says, in options again and in settings. */
export interface ReplicaList {
  readonly written: readonly Host[] | ReplicaDiscovery;
  readonly replicas: RWSplitSettings['replicas'];
}

/**
 * Reads `replicas`: a list, or a function that answers with one.
 *
 * @throws {ConfigError} when it is neither, or a host of the list cannot be used.
 */
export function readReplicaList(value: unknown, path: string, base: ReplicaBase): ReplicaList {
  if (isDiscovery(value)) {
    const ask = async (): Promise<readonly HostSettings[]> =>
      resolveReplicas(readEntries(await value(), `${path}()`), base, true);
    return { written: value, replicas: madeOf(ask, value) };
  }

  const entries = readEntries(value, path);
  return {
    written: Object.freeze(entries.map(({ written }) => written)),
    replicas: resolveReplicas(entries, base),
  };
}

function readEntries(value: unknown, path: string): readonly HostEntry[] {
  if (!Array.isArray(value)) throw invalidOption(path, value, 'a list of hosts');
  return value.map((host: unknown, index) => readHostEntry(host, `${path}[${index}]`));
}

function isDiscovery(value: unknown): value is ReplicaDiscovery {
  return typeof value === 'function';
}

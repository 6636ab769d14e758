import { differenceOf } from '../config/difference.ts';
import type { HostSettings, RWSplitSettings } from '../config/settings.ts';
import type { PgClient } from './internals.ts';

/** One thing that clients must have alike to share pools: where it is written, and what it is. */
type Fact = readonly [path: string, value: unknown];

/** What decides how a client's pools are opened, watched and filled; private, as passwords are among it. */
export class PoolFacts {
  readonly #facts: readonly Fact[];
  readonly #hosts: readonly unknown[];

  constructor(client: PgClient, settings: RWSplitSettings) {
    const { primary, replicas } = settings;
    const listed = typeof replicas === 'function' ? [] : replicas;
    const hosts = [primary, ...listed].map(({ key, connection }) => key ?? connection);

    this.#facts = [...clientFacts(client, settings), ...listed.flatMap(replicaFacts)];
    // In whatever order they are written.
    const known = hosts.filter((host) => typeof host === 'string').toSorted();
    const unknown = [...hosts, replicas].filter((host) => typeof host === 'function');
    this.#hosts = [...known, ...unknown];
  }

  /** Whether both are of the same databases and users of the same hosts. */
  hasHostsOf(other: PoolFacts): boolean {
    return differenceOf(this.#hosts, other.#hosts, 'hosts') === undefined;
  }

  /** Where they differ, as a user would write it; undefined where they can share pools. */
  differenceTo(other: PoolFacts): string | undefined {
    for (const [index, [path, value]] of this.#facts.entries()) {
      const found = differenceOf(value, other.#facts[index]?.[1], path);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function clientFacts(client: PgClient, settings: RWSplitSettings): readonly Fact[] {
  const { primary, replicas, target } = settings;
  const { searchPath, version, acquireConnectionTimeout } = client.config;
  const isFunction = typeof replicas === 'function';
  const alike = [
    'primaryReads',
    'fallbackShare',
    'maxLag',
    'health',
    'maxPerServer',
    'prepare',
    'pooler',
  ] as const;
  return [
    ['connection', primary.connection],
    ['rwSplit.replicas', isFunction ? replicas : undefined],
    ['rwSplit.replicas.length', isFunction ? undefined : replicas.length],
    ['client', client.constructor],
    ['the driver of client', client.driver],
    ['pool', primary.pool],
    ['searchPath', searchPath],
    ['version', version],
    ['acquireConnectionTimeout', acquireConnectionTimeout],
    ['rwSplit.target', target === 'any' || 'with roles'],
    ...alike.map((name): Fact => [`rwSplit.${name}`, settings[name]]),
    ['rwSplit.discovery', isFunction ? settings.discovery : undefined],
  ];
}

function replicaFacts(
  { name, weight, tags, connection, pool }: HostSettings,
  index: number,
): readonly Fact[] {
  const path = `rwSplit.replicas[${index}]`;
  return [
    [path, connection],
    [`${path}.name`, name],
    [`${path}.weight`, weight],
    [`${path}.tags`, tags],
    [`${path}.pool`, pool],
  ];
}

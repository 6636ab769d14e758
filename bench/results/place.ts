import { cpus } from 'node:os';
import type { Cluster } from '../../lib/testing/index.ts';

/** Where and when figures were measured; as times they mean little elsewhere. */
export interface Place {
  readonly date: string;
  readonly node: string;
  /** Undefined where no server took part. */
  readonly postgresql?: string | undefined;
  readonly processor: string;
  readonly cores: number;
}

/** This machine, and the servers that were asked. */
export async function placeOf(cluster?: Cluster): Promise<Place> {
  const [first, ...others] = cpus();
  const version = await cluster?.primary.query<{ server_version: string }>('show server_version');
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    postgresql: version?.[0]?.server_version.split(' ')[0],
    processor: first?.model.trim() ?? 'unknown',
    cores: others.length + 1,
  };
}

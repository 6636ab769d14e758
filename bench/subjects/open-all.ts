import type { Cluster } from '../../lib/testing/index.ts';
import type { Opened, Subject } from './subject.ts';

/** Opens subjects, one after the other, by their names. */
export async function openAll(
  cluster: Cluster,
  subjects: readonly Subject[],
): Promise<ReadonlyMap<string, Opened>> {
  const opened = new Map<string, Opened>();
  for (const { name, open } of subjects) opened.set(name, await open(cluster));
  return opened;
}

/** Closes what {@link openAll} opened. */
export async function closeAll(opened: ReadonlyMap<string, Opened>): Promise<void> {
  await Promise.all([...opened.values()].map(({ close }) => close()));
}

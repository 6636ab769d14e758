import { snapshot } from '../knex/host-snapshot.ts';
import type { HostSnapshot } from '../knex/host-snapshot.ts';
import type { RWSplit } from '../knex/rw-split.ts';

/** A host as metrics show it. */
export interface ShownHost extends HostSnapshot {
  /** Whether it answers its probes, in use or not; undefined before the first. */
  readonly isUp: boolean | undefined;
}

/** Takes a look at every host; at none of a Knex instance that was destroyed. */
export function shownHosts(split: RWSplit | undefined): readonly ShownHost[] {
  const { hosts = [], elected } = split?.cluster ?? {};
  return hosts.map((host) => {
    const { state } = host.health;
    return {
      ...snapshot(host, elected),
      isUp: state === 'unknown' ? undefined : state === 'up',
    };
  });
}

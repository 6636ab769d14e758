import type { Knex } from 'knex';
import { type HostSnapshot, rwSplit } from '../../lib/index.ts';
import { eventually } from './eventually.ts';

/** The state of each host by its name, as in `{ primary: 'up', 'replica-1': 'unknown' }`. */
export function hostStates(db: Knex): Record<string, HostSnapshot['state']> {
  return Object.fromEntries(
    rwSplit(db)
      .hosts()
      .map(({ name, state }) => [name, state]),
  );
}

/**
 * Waits until what an instance knows of a host is as wanted, and returns that.
 *
 * @throws an error that shows what it knows instead, when it doesn't come to that in time.
 */
export async function awaitHost(
  db: Knex,
  name: string,
  isAsWanted: (host: HostSnapshot) => boolean,
  withinMillis?: number,
): Promise<HostSnapshot> {
  return eventually(
    () => {
      const hosts = rwSplit(db).hosts();
      const host = hosts.find((candidate) => candidate.name === name);
      if (host === undefined) {
        throw new Error(
          `no host is named "${name}"; there are ${hosts.map((h) => h.name).join(', ')}.`,
        );
      }
      if (!isAsWanted(host)) throw new Error(`not as wanted is ${JSON.stringify(host)}`);
      return host;
    },
    withinMillis === undefined ? { everyMillis: 10 } : { everyMillis: 10, withinMillis },
  );
}

import type { Host } from './host.ts';
import type { RoutableHosts } from './routable-hosts.ts';
import { surveyHosts } from './routable-hosts.ts';

/** All of a host that decides what it may serve, or that somebody waits for. */
type Sighting = Pick<Host, 'role' | 'exclusion' | 'isDraining'> & {
  readonly host: Host;
  readonly state: string;
  readonly trouble: string | undefined;
  readonly isLate: boolean;
  readonly server: string | undefined;
};

/** Who may serve what, kept until something of it changes. */
export class Survey {
  readonly #primaryReads: boolean;
  #sightings: readonly Sighting[] = [];
  #elected: Host | undefined;
  #isSettled = false;
  #routable: RoutableHosts;

  /** @param primaryReads whether the primary is one of the hosts that serve reads. */
  constructor(hosts: readonly Host[], primaryReads: boolean) {
    this.#primaryReads = primaryReads;
    this.#routable = surveyHosts(hosts, undefined, primaryReads);
  }

  get routable(): RoutableHosts {
    return this.#routable;
  }

  /** Has the next look count as a change: whoever doubts a host waits for what its probe finds. */
  forget(): void {
    this.#sightings = [];
  }

  /** Looks anew; false where all is as before, which most probes find. */
  take(hosts: readonly Host[], elected: Host | undefined, isSettled: boolean): boolean {
    const sightings = this.#sightings;
    const isSame =
      hosts.length === sightings.length &&
      elected === this.#elected &&
      isSettled === this.#isSettled &&
      hosts.every((host, place) => isAsSeen(host, sightings[place]));
    if (isSame) return false;

    this.#sightings = hosts.map(see);
    this.#elected = elected;
    this.#isSettled = isSettled;
    this.#routable = surveyHosts(hosts, elected, this.#primaryReads);
    return true;
  }
}

function see(host: Host): Sighting {
  const { health, role, exclusion, isDraining, lagProblem, report } = host;
  return {
    host,
    state: health.state,
    trouble: 'trouble' in health ? health.trouble : undefined,
    role,
    exclusion,
    isDraining,
    isLate: lagProblem !== undefined,
    server: report?.server,
  };
}

// Field by field: with many hosts, to make a text of them would cost more than all else of a probe.
function isAsSeen(host: Host, seen: Sighting | undefined): boolean {
  const { health } = host;
  return (
    host === seen?.host &&
    health.state === seen.state &&
    ('trouble' in health ? health.trouble : undefined) === seen.trouble &&
    host.role === seen.role &&
    host.exclusion === seen.exclusion &&
    host.isDraining === seen.isDraining &&
    (host.lagProblem !== undefined) === seen.isLate &&
    host.report?.server === seen.server
  );
}

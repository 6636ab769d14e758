import type { Host } from './host.ts';
import type { RoutableHosts } from './routable-hosts.ts';
import { surveyHosts } from './routable-hosts.ts';

/** Who may serve what, kept until something of it changes. */
export class Survey {
  readonly #primaryReads: boolean;
  #described = '';
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
    this.#described = '';
  }

  /** Looks anew; false where all is as before, which most probes find. */
  take(hosts: readonly Host[], elected: Host | undefined, isSettled: boolean): boolean {
    const described = [elected?.name, isSettled, ...hosts.map(describe)].join(';');
    if (described === this.#described) return false;

    this.#described = described;
    this.#routable = surveyHosts(hosts, elected, this.#primaryReads);
    return true;
  }
}

// All that decides who may serve what, or that somebody waits for.
function describe(host: Host): string {
  const { name, health, role, exclusion, isDraining, lagProblem, report } = host;
  const trouble = 'trouble' in health ? health.trouble : '';
  const isLate = lagProblem !== undefined;
  return [name, health.state, trouble, role, exclusion, isDraining, isLate, report?.server].join();
}

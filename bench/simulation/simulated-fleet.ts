import type { HostSettings } from '../../lib/config/settings.ts';
import type { HostRole } from '../../lib/events.ts';
import { hostSettings } from '../../test/support/hosts.ts';
import { Draws } from './draws.ts';
import { meanService, SimulatedServer } from './simulated-server.ts';
import type { VirtualTime } from './virtual-time.ts';

const PRIMARY = 'primary';

// How many queries a server of weight 1 works on at a time.
const SLOTS = 2;

// One replica in so many is twice as large as the others, and has twice their weight.
const LARGE_ONE_IN = 4;

/** What a replica weighs, by its place. */
export function weightOf(place: number): number {
  return place % LARGE_ONE_IN === LARGE_ONE_IN - 1 ? 2 : 1;
}

/** One simulated replica. */
export interface FleetMember {
  readonly name: string;
  readonly weight: number;
  readonly server: SimulatedServer;
}

/** A primary and many replicas, of which some are larger than the others. */
export class SimulatedFleet {
  readonly replicas: readonly FleetMember[];
  readonly #servers: ReadonlyMap<string, SimulatedServer>;

  constructor(time: VirtualTime, size: number, seed: number) {
    this.replicas = Array.from({ length: size }, (_, place) => {
      const weight = weightOf(place);
      const server = new SimulatedServer(time, new Draws(seed + place), SLOTS * weight);
      return { name: `replica-${place + 1}`, weight, server };
    });
    const primary = new SimulatedServer(time, new Draws(seed - 1), SLOTS);
    this.#servers = new Map([
      [PRIMARY, primary],
      ...this.replicas.map(({ name, server }) => [name, server] as const),
    ]);
  }

  /** What a client is told of the hosts, the primary first. */
  get settings(): readonly HostSettings[] {
    return [
      hostSettings(PRIMARY),
      ...this.replicas.map(({ name, weight }) => hostSettings(name, { weight })),
    ];
  }

  /** How many queries a second all replicas together can serve. */
  get capacity(): number {
    const weights = this.replicas.reduce((sum, { weight }) => sum + weight, 0);
    return (weights * SLOTS * 1000) / meanService;
  }

  /** The server with a name, which has to be there. */
  server(name: string): SimulatedServer {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`There is no server named ${name}.`);
    return server;
  }

  /** What the server with a name is. */
  roleOf(name: string): HostRole {
    return name === PRIMARY ? 'primary' : 'replica';
  }
}

import type { HostFactory } from '../../lib/hosts/cluster-parts.ts';
import { Dialling } from '../../lib/hosts/dialling.ts';
import type { Connection } from '../../lib/hosts/host.ts';
import { Host } from '../../lib/hosts/host.ts';
import { HostPool } from '../../lib/hosts/pool.ts';
import { SimulatedConnection } from './simulated-connection.ts';
import type { SimulatedFleet } from './simulated-fleet.ts';
import type { VirtualTime } from './virtual-time.ts';

// Knex's own.
const MOST_CONNECTIONS = 10;

const isOpen = (connection: Connection): boolean =>
  connection instanceof SimulatedConnection && !connection.hasEnded;

const destroy = (connection: Connection): void => {
  if (connection instanceof SimulatedConnection) connection.end();
};

/** Makes the hosts of simulated servers, with the pools that the library gives to real ones. */
export function hostMaker(fleet: SimulatedFleet, time: VirtualTime): HostFactory {
  return (settings, role) => {
    const server = fleet.server(settings.name);
    const dialling = new Dialling();
    const create = (): Promise<Connection> => {
      let dialled: Connection | undefined;
      const opened = server.dial((connection) => {
        dialled = connection;
        dialling.begin(connection);
      });
      return opened.finally(() => dialled && dialling.finish(dialled));
    };
    const pool = new HostPool<Connection>(
      {
        create,
        validate: isOpen,
        isUsable: isOpen,
        destroy,
        dialling,
        min: 0,
        max: MOST_CONNECTIONS,
        acquireTimeoutMillis: 60_000,
        createTimeoutMillis: 5000,
        propagateCreateError: true,
      },
      time,
    );
    return new Host(settings, role, 0, pool, time);
  };
}

import type { Host } from '../hosts/host.ts';
import type { DialProbe, ProbeClient } from '../monitor/probe.ts';
import type { PgClient } from './internals.ts';
import { outsideScopes } from './scope.ts';

interface Driver {
  readonly Client: new (settings: unknown) => ProbeClient;
}

/** Makes what opens the connections of a host's probe: as Knex dials, without what it then asks and sets. */
export function probeDialer(client: PgClient, host: Host): DialProbe {
  return (onClient) =>
    outsideScopes(async () => {
      const { connection } = host.settings;
      const settings = typeof connection === 'function' ? await connection() : connection;
      const driver = client.driver as Driver;
      const Client = class extends driver.Client {
        constructor(own: unknown) {
          super(own);
          onClient(this);
        }
      };
      const view = Object.create(client, {
        connectionSettings: { value: settings },
        searchPath: { value: undefined },
        // Knex asks only where it knows none.
        version: { value: client.version ?? 'of no interest' },
        driver: { value: Object.create(driver, { Client: { value: Client } }) },
      }) as PgClient;
      return (await view.acquireRawConnection()) as ProbeClient;
    });
}

import type { ConnectionObject } from '../config/connection-object.ts';
import { hideValue } from '../config/connection-object.ts';
import { budgetOf } from '../hosts/budget-shortage.ts';
import type { Host } from '../hosts/host.ts';
import { watchPassword } from '../hosts/password-error.ts';
import type { DialProbe, ProbeClient } from '../monitor/probe.ts';
import type { PgClient } from './internals.ts';
import { outsideScopes } from './scope.ts';

interface Driver {
  readonly Client: new (settings: unknown) => ProbeClient;
}

/** Makes what opens the connections of a host's probe: as Knex dials, without what it then asks and sets. */
export function probeDialer(client: PgClient, host: Host, acquireMillis: number): DialProbe {
  const budget = budgetOf(host.pool);
  let known: ConnectionObject = {};
  const prepare = async (): Promise<void> => {
    const { connection } = host.settings;
    known = typeof connection === 'function' ? await outsideScopes(connection) : connection;
  };
  const dial: DialProbe = (onClient) =>
    outsideScopes(async () => {
      // A probe has a time of its own, which knows of a process that was held up.
      const own = { connectionTimeoutMillis: 0, query_timeout: 0 };
      const settings = hideValue({ ...known, ...own }, 'password', known.password);
      const driver = client.driver as Driver;
      const Client = class extends driver.Client {
        constructor(given: unknown) {
          super(given);
          watchPassword(this);
          budget?.probes.add(this);
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
  // Queries that wait for the first probes have time left then for the other hosts.
  return Object.assign(dial, {
    prepare,
    prepareMillis: acquireMillis / 2,
    isCounted: budget !== undefined,
  });
}

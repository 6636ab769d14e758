import { Client } from 'pg';
import type { ClientConfig } from 'pg';
import type { DialProbe, ProbeClient } from '../../lib/monitor/probe.ts';

/** Dials a server for a probe by plain `pg`; `clients` gathers what was dialled. */
export function dialProbe(connection: ClientConfig, clients: Client[] = []): DialProbe {
  return async (onClient) => {
    const client = new Client({ ssl: false, ...connection });
    clients.push(client);
    // pg types less of its client than there is.
    const probed = client as unknown as ProbeClient;
    onClient(probed);
    await client.connect();
    return probed;
  };
}

import { EventEmitter } from 'node:events';
import type { HostRole } from '../../lib/events.ts';
import type { DialProbe, ProbeClient, ProbeResult } from '../../lib/monitor/probe-client.ts';
import type { SimulatedConnection } from './simulated-connection.ts';
import type { SimulatedServer } from './simulated-server.ts';

/** Opens the connections of probes to a simulated server. */
export function simulatedProbe(server: SimulatedServer, role: HostRole): DialProbe {
  return async (onClient) => {
    let client: SimulatedProbeClient | undefined;
    await server.dial((connection) => {
      client = new SimulatedProbeClient(server, connection, role);
      onClient(client);
    });
    if (client === undefined) throw new Error('A server has to tell of its connection.');
    return client;
  };
}

/** The driver's client of a probe, which answers as a server of a cluster that has no lag. */
class SimulatedProbeClient extends EventEmitter implements ProbeClient {
  readonly processID: number;
  readonly connection: { readonly stream: { readonly destroy: () => void } };
  readonly #server: SimulatedServer;
  readonly #connection: SimulatedConnection;
  readonly #row: object;

  constructor(server: SimulatedServer, connection: SimulatedConnection, role: HostRole) {
    super();
    this.#server = server;
    this.#connection = connection;
    this.processID = connection.processID;
    this.connection = { stream: { destroy: () => connection.end() } };
    const isInRecovery = role === 'replica' ? 't' : 'f';
    const positions = { position: '0/1', receivedPosition: '0/1', receivers: '1' };
    this.#row = { isInRecovery, processId: String(this.processID), ...positions };
    connection.once('end', () => this.emit('end'));
  }

  async query(): Promise<ProbeResult> {
    await this.#server.answer(this.#connection);
    return { rows: [this.#row] };
  }

  end(): void {
    this.#connection.end();
  }
}

import type { PgClient } from './internals.ts';

/**
 * Makes what stands for the client by which shared pools dial: as the one that opened them, for as
 * long as the pools are open, and with what it learns told to all.
 *
 * @param clients those that share the pools at the moment.
 */
export function sharedClient(first: PgClient, clients: () => readonly PgClient[]): PgClient {
  const known: Partial<Record<keyof PgClient, unknown>> = {
    version: first.version,
    connectionSettings: first.connectionSettings,
  };
  const told = (name: 'version' | 'connectionSettings'): PropertyDescriptor => ({
    get: () => known[name],
    set: (value: unknown) => {
      known[name] = value;
      for (const client of clients()) Object.assign(client, { [name]: value });
    },
  });
  return Object.create(first, {
    version: told('version'),
    connectionSettings: told('connectionSettings'),
    // One that was destroyed has listeners of its own, which are not to hear of the others.
    emit: {
      value: (event: string, ...args: unknown[]) =>
        clients().filter((client) => client.emit(event, ...args)).length > 0,
    },
  }) as PgClient;
}

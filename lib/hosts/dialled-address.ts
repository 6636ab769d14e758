/** Where a connection was dialled, as the driver has it: a name, an address or the folder of a socket. */
export interface DialledAddress {
  readonly host: string;
  readonly port: number;
}

/** The address that a connection of `pg` was dialled at; undefined where it keeps none. */
export function addressOf(connection: object): DialledAddress | undefined {
  const { host, port }: Partial<DialledAddress> = connection;
  return typeof host === 'string' && typeof port === 'number' ? { host, port } : undefined;
}

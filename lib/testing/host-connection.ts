/** Where and as whom to connect; a `connection` for both Knex and pg. */
export interface HostConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** A row of a result, by the names of its columns. */
export type Row = Record<string, unknown>;

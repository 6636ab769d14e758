/**
 * Session state that a connection is in when it runs a statement.
 *
 * Values are sent as values, never as SQL: a name with quotes or semicolons is just a name. A field
 * that is written as `undefined` is an error: it may be that of a tenant that is missing.
 */
export interface StateOptions {
  /**
   * The schemas that unqualified names are looked up in, in this order; a string is one schema,
   * whatever is in it. `$user` and `pg_temp…` are refused with a `ConfigError`: they would stand for
   * another schema. Without it they are those that the connection was opened with.
   */
  searchPath?: string | readonly string[];
  /**
   * The role that statements run as, of which the connection's user has to be a member; without it
   * that user.
   */
  role?: string;
  /**
   * Values of server settings by name, such as `timezone`, `statement_timeout` or `app.tenant`. A
   * setting of one's own reads as an empty string, and not as null, where it was set before.
   * What is not named is as the connection was opened with.
   */
  settings?: Readonly<Record<string, string | number | boolean>>;
}

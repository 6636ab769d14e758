/** Session state that every connection has before it runs a query. Accepted and validated; has no effect in this version. */
export interface StateOptions {
  /** The schemas that unqualified names are looked up in, in this order. */
  searchPath?: string | readonly string[] | undefined;
  /** The role that queries run as. */
  role?: string | undefined;
  /** Values of server settings by name, such as `statement_timeout` or `app.tenant`. */
  settings?: Readonly<Record<string, string | number | boolean>> | undefined;
}

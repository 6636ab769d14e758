/** The server's budget was used up for the whole time that a query may wait. */
export class BudgetUsedUpError extends Error {
  readonly host: string;

  /** @param shortage what there is no more of, and who holds it. */
  constructor(host: string, waitedMillis: number, shortage: string, cause: unknown) {
    super(`no connection to ${host} within ${Math.round(waitedMillis)} ms: ${shortage}`, { cause });
    this.name = new.target.name;
    this.host = host;
  }
}

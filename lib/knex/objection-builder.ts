/** As much of Objection's query builder as is used here: it makes one of Knex anew for each run. */
export interface ObjectionBuilder {
  /** @param change is given the builder of Knex. */
  onBuildKnex(change: (builder: object) => object): unknown;
}

/** Whether a value is a query builder of Objection. */
export function isObjectionBuilder(value: object): value is ObjectionBuilder {
  return typeof (value as Partial<ObjectionBuilder>).onBuildKnex === 'function';
}

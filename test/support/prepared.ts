import type { Knex } from 'knex';

/** A named statement, as its server tells of it. */
export interface PreparedStatement {
  readonly name: string;
  readonly statement: string;
  readonly parameter_types: string;
}

/**
 * What the server has by name on the one connection of a pool, the oldest first; asked in a
 * transaction, where nothing gets a name.
 */
export async function preparedOf(db: Knex): Promise<readonly PreparedStatement[]> {
  return db.transaction(async (trx) => {
    const { rows } = await trx.raw(
      'select name, statement, parameter_types::text from pg_prepared_statements order by prepare_time, name',
    );
    return rows;
  });
}

/** The same, texts alone. */
export async function textsOf(db: Knex): Promise<readonly string[]> {
  return (await preparedOf(db)).map(({ statement }) => statement);
}

/** Runs something so often that it gets a name. */
export async function twice<T>(run: () => PromiseLike<T>): Promise<T> {
  await run();
  return run();
}

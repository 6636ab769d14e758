import type { Answer } from '../consistency/questions.ts';
import type { Connection } from '../hosts/host.ts';
import { asTexts, runQuery } from '../hosts/run-query.ts';
import type { DriverQueryClass } from './position-query.ts';
import { positionQuery } from './position-query.ts';

/** Asks a server something on a connection that is in nobody else's use. */
export async function ask(connection: Connection, text: string): Promise<Answer | undefined> {
  const { Query } = connection.constructor as { readonly Query?: DriverQueryClass };
  const query = Query === undefined ? { text, types: asTexts } : positionQuery(Query, text);
  const [row] = await runQuery(connection, query);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its values were not parsed.
  return row as Answer | undefined;
}

import { systemClock } from '../../../lib/clock.ts';
import { Catalog } from '../../../lib/sql/catalog.ts';
import type { CatalogRow } from '../../../lib/sql/catalog-query.ts';
import { type FunctionOptions, Intents } from '../../../lib/sql/intents.ts';
import type { TestHost } from '../../../lib/testing/index.ts';

/** Judges texts with the catalog of one server. */
export function intentsOn(host: TestHost, functions: FunctionOptions = {}): Intents {
  const query = (sql: string, bindings: readonly unknown[]): Promise<CatalogRow[]> =>
    host.query<CatalogRow & Record<string, unknown>>(sql, bindings);
  // A busy machine opens a connection for every look-up of these tests.
  return new Intents({
    clock: systemClock,
    functions,
    patience: { sendMillis: 20_000, answerMillis: 20_000, longestMillis: 20_000 },
    catalog: new Catalog({ clock: systemClock, functions, query }),
  });
}

import { markOwn, type MarkedQuery } from '../hosts/run-query.ts';

/** What is used of a query of `pg`. */
interface DriverQuery {
  readonly _result: { readonly rows: unknown[] };
  handleRowDescription(message: unknown): void;
  handleDataRow(message: Row): void;
  handleCommandComplete(message: unknown): void;
}

interface Row {
  readonly fields: readonly unknown[];
}

/** The query class of a driver, whose instances alone it sends in a pipeline. */
export type DriverQueryClass = new (text: string) => DriverQuery;

const classes = new WeakMap<DriverQueryClass, DriverQueryClass>();

/**
 * Makes a query of the driver for one of our questions about positions, whose answer is a row of `lsn`
 * and `timeline`: it travels with each write, and takes a fifth of the time of any other query to read.
 */
export function positionQuery(Query: DriverQueryClass, text: string): MarkedQuery {
  let Class = classes.get(Query);
  if (Class === undefined) {
    Class = positionQueryClass(Query);
    classes.set(Query, Class);
  }
  return markOwn(new Class(text));
}

function positionQueryClass(Query: DriverQueryClass): DriverQueryClass {
  class PositionQuery extends Query {
    override handleRowDescription(): void {
      // Its columns are known.
    }

    override handleDataRow({ fields: [lsn, timeline] }: Row): void {
      this._result.rows.push({ lsn: asText(lsn), timeline: asText(timeline) });
    }

    override handleCommandComplete(): void {
      // One statement has one answer.
    }
  }
  return PositionQuery;
}

function asText(value: unknown): string | null {
  if (Buffer.isBuffer(value)) return value.toString();
  return typeof value === 'string' ? value : null;
}

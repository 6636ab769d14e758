import { OwnMethod } from './own-method.ts';
import { TextMemo } from './text-memo.ts';

// Of the sources of what is done here in another way.
const DESCRIPTION_DIGEST = '7f0e7419829ad7d134650af02856f2d79e8ad66d';
const FIELDS_DIGEST = '257ade15d8f6ce21c1696a3a762fb1efa3150d16';

// Rows of more are seldom the same, and take their time anyway.
const MOST_COLUMNS = 100;

/** What is used of a query of `pg`. */
interface RowQuery {
  readonly text: string;
  readonly callback?: unknown;
  readonly _result: RowResult;
  _accumulateRows?: unknown;
  _checkForMultirow(): void;
  listeners(event: string): readonly unknown[];
  handleRowDescription(message: RowDescription): void;
}

interface RowResult {
  fields: readonly Field[];
  _parsers?: readonly unknown[] | undefined;
  _prebuiltEmptyResultObject?: object | null;
  readonly _types?: Types | undefined;
  addFields(fields: readonly Field[]): void;
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
  readonly format?: string;
}

interface Types {
  getTypeParser(oid: number, format: string): unknown;
}

interface RowDescription {
  readonly fields: readonly Field[];
}

/** How the rows of a text look. */
interface Layout {
  readonly names: readonly string[];
  /** The one that all its rows are copied from. */
  readonly row: object;
}

/** The query class of a driver. */
export type RowQueryClass = new (
  config: unknown,
  values?: unknown,
  callback?: unknown,
) => RowQuery & object;

/**
 * Derives a query class from the driver's own, which differs in the row that the driver makes from the
 * description of each answer to copy all others from: that of each text is kept, as long as its columns
 * have the same names.
 */
export function knownRowClass(Query: RowQueryClass): RowQueryClass {
  const layouts = new TextMemo<Layout>();
  const descriptions = OwnMethod.of(DESCRIPTION_DIGEST);
  const additions = OwnMethod.of(FIELDS_DIGEST);
  return class KnownRowQuery extends Query {
    override handleRowDescription(message: RowDescription): void {
      const { fields } = message;
      const { text } = this;
      const { _types: types } = this._result;
      const known = layouts.get(text);
      const isOwn =
        descriptions.is(Reflect.get(Query.prototype, 'handleRowDescription')) &&
        additions.is(Reflect.get(this._result, 'addFields'));
      if (known === undefined || types === undefined || !isOwn || !hasNames(fields, known.names)) {
        super.handleRowDescription(message);
        const { _prebuiltEmptyResultObject: row } = this._result;
        if (!isOwn || !row || fields.length > MOST_COLUMNS) return;
        layouts.keep(text, { names: fields.map(({ name }) => name), row });
        return;
      }

      this._checkForMultirow();
      const result = this._result;
      result.fields = fields;
      // These may have been set anew.
      result._parsers = fields.map(({ dataTypeID, format = 'text' }) =>
        types.getTypeParser(dataTypeID, format),
      );
      result._prebuiltEmptyResultObject = known.row;
      this._accumulateRows = this.callback ?? this.listeners('row').length === 0;
    }
  };
}

function hasNames(fields: readonly Field[], names: readonly string[]): boolean {
  return fields.length === names.length && fields.every(({ name }, place) => name === names[place]);
}

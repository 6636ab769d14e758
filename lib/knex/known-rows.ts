import { createHash } from 'crypto';
import { OwnMethod } from './own-method.ts';

// Of the sources of what is done here in another way.
const DESCRIPTION_DIGEST = '7f0e7419829ad7d134650af02856f2d79e8ad66d';
const FIELDS_DIGEST = '257ade15d8f6ce21c1696a3a762fb1efa3150d16';

// Some 4 MB at most.
const MOST_TEXTS = 1000;
const LONGEST_TEXT = 1000;

/** What is used of a query of `pg`. */
interface RowQuery {
  readonly text?: unknown;
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

const classes = new WeakMap<RowQueryClass, RowQueryClass>();

/**
 * The driver's own query class, but for the row that it makes from the description of each answer to
 * copy all others from: it keeps that of each text, as long as the columns have the same names.
 */
export function knownRowQuery<Query extends RowQueryClass>(Query: Query): Query {
  let Class = classes.get(Query);
  if (Class === undefined) {
    Class = knownRowClass(Query);
    classes.set(Query, Class);
  }
  return Class as Query;
}

function knownRowClass(Query: RowQueryClass): RowQueryClass {
  const layouts = new Map<unknown, Layout>();
  const descriptions = ownBy(DESCRIPTION_DIGEST);
  const additions = ownBy(FIELDS_DIGEST);
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
        if (isOwn) keep(layouts, text, this._result);
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

function ownBy(digest: string): OwnMethod {
  return new OwnMethod((source) => createHash('sha1').update(source).digest('hex') === digest);
}

function hasNames(fields: readonly Field[], names: readonly string[]): boolean {
  return fields.length === names.length && fields.every(({ name }, place) => name === names[place]);
}

function keep(
  layouts: Map<unknown, Layout>,
  text: unknown,
  { fields, _prebuiltEmptyResultObject: row }: RowResult,
): void {
  if (typeof text !== 'string' || text.length > LONGEST_TEXT || !row) return;
  if (layouts.size >= MOST_TEXTS) layouts.clear();
  layouts.set(text, { names: fields.map(({ name }) => name), row });
}

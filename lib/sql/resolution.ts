import type { CatalogRow, RowKind } from './catalog-query.ts';
import type { Lookups } from './lookups.ts';
import { formatName, type QualifiedName } from './qualified-name.ts';

/** What the catalog says of all the names in a text. */
export interface Resolution {
  /** Why the text belongs on the primary; undefined where all its names only read. */
  readonly danger: string | undefined;
  /** Functions that the catalog does not know. */
  readonly unknown: readonly string[];
  /** When this ceases to hold, on the clock. */
  readonly expiresAt: number;
}

/** What the catalog said of one name. */
export interface Answer {
  readonly isKnown: boolean;
  readonly danger: string | undefined;
  readonly expiresAt: number;
}

/** What runs a dangerous function without being called, by what {@link idOf} makes of kind and name. */
export interface Hazards {
  readonly dangers: ReadonlyMap<string, string>;
  readonly expiresAt: number;
}

/** Answers by what {@link idOf} makes of their names. */
export type Answers = ReadonlyMap<string, Answer>;

/** What stands for a name of one kind. */
export function idOf(kind: RowKind, { schema, name }: QualifiedName): string {
  return `${kind} ${schema ?? ''}\0${name}`;
}

/** Takes the answers on names out of the rows; a name without a row is not known. */
export function answersIn(
  rows: readonly CatalogRow[],
  functions: readonly QualifiedName[],
  relations: readonly QualifiedName[],
  expiresAt: number,
): Answers {
  const unknown: Answer = { isKnown: false, danger: undefined, expiresAt };
  const answers = new Map<string, Answer>();
  for (const name of functions) answers.set(idOf('function', name), unknown);
  for (const name of relations) answers.set(idOf('relation', name), unknown);
  for (const { kind, schema, name, danger } of rows) {
    const id = idOf(kind, { schema: schema ?? undefined, name });
    if (answers.has(id)) answers.set(id, { isKnown: true, danger: danger ?? undefined, expiresAt });
  }
  return answers;
}

/** Takes the hazards out of the rows. */
export function hazardsIn(rows: readonly CatalogRow[]): ReadonlyMap<string, string> {
  const dangers = new Map<string, string>();
  for (const { kind, schema, name, danger } of rows) {
    if (danger !== null && kind !== 'function' && kind !== 'relation')
      dangers.set(idOf(kind, { schema: schema ?? undefined, name }), danger);
  }
  return dangers;
}

/** Judges the names of a text together: the worst decides. */
export function judge(
  lookups: Lookups,
  answers: Answers,
  hazards: Hazards | undefined,
): Resolution {
  const danger = [...answers.values()].find((answer) => answer.danger !== undefined)?.danger;

  return {
    danger: danger ?? hazardIn(lookups, hazards?.dangers ?? new Map<string, string>()),
    unknown: lookups.functions
      .filter((name) => answers.get(idOf('function', name))?.isKnown !== true)
      .map(formatName),
    expiresAt: Math.min(
      ...[...answers.values()].map(({ expiresAt }) => expiresAt),
      hazards?.expiresAt ?? Number.POSITIVE_INFINITY,
    ),
  };
}

function hazardIn(lookups: Lookups, dangers: ReadonlyMap<string, string>): string | undefined {
  if (dangers.size === 0) return undefined;
  const { functions, relations, operators, types, columns, fields } = lookups;
  const all = [
    ...[...functions, ...relations, ...operators].map(({ name }) => name),
    ...types,
    ...columns,
    ...fields,
  ];
  const meets = (kind: RowKind, names: readonly string[]): string | undefined =>
    names.map((name) => dangers.get(idOf(kind, { name }))).find((danger) => danger !== undefined);

  return (
    operators
      .map((name) => dangers.get(idOf('operator', name)))
      .find((danger) => danger !== undefined) ??
    meets('type', types) ??
    meets('column', columns) ??
    meets('field', fields) ??
    meets('implicit', all) ??
    (meets('carrier', all) === undefined ? undefined : meets('cast', types))
  );
}

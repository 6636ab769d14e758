import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { type CatalogRow, namesAndHazardsQuery, namesQuery } from './catalog-query.ts';
import type { Lookups } from './lookups.ts';
import { formatName, type QualifiedName } from './qualified-name.ts';

/**
 * Asks a live host of the cluster, in the session state (role, search path) that `key` stands for.
 * The SQL has `$n` placeholders; its bindings are arrays of text.
 */
export type CatalogReader = (
  sql: string,
  bindings: readonly unknown[],
  key: string,
) => Promise<readonly CatalogRow[]>;

/** What a {@link Catalog} needs. */
export interface CatalogOptions {
  readonly query: CatalogReader;
  readonly clock: Clock;
  /** How many names are remembered. */
  readonly max?: number | undefined;
  /** How long an answer holds, in milliseconds. */
  readonly expiresMillis?: number | undefined;
}

/** What the catalog says of all the names in a text. */
export interface Resolution {
  /** Why the text belongs on the primary; undefined where all its names only read. */
  readonly danger: string | undefined;
  /** Functions that the catalog does not know. */
  readonly unknown: readonly string[];
  /** When this ceases to hold, on the clock. */
  readonly expiresAt: number;
}

interface Answer {
  readonly isKnown: boolean;
  readonly danger: string | undefined;
  readonly expiresAt: number;
}

/** Keyed `operator <name>`, `type <name>`, `column <name>`. */
interface Hazards {
  readonly dangers: ReadonlyMap<string, string>;
  readonly expiresAt: number;
}

type NameKind = 'function' | 'relation';
type Answers = ReadonlyMap<string, Answer>;

const mostStates = 100;

/** Remembers what the database's catalog says of names, one batched look-up at a time. */
export class Catalog {
  readonly #query: CatalogReader;
  readonly #clock: Clock;
  readonly #expiresMillis: number;
  readonly #answers: LRUCache<string, Answer>;
  readonly #hazards = new LRUCache<string, Hazards>({ max: mostStates });
  #generation = 0;

  constructor({ query, clock, max = 10_000, expiresMillis = 60_000 }: CatalogOptions) {
    this.#query = query;
    this.#clock = clock;
    this.#expiresMillis = expiresMillis;
    this.#answers = new LRUCache({ max });
  }

  /** Forgets everything, as after DDL; a look-up under way is used once and not remembered. */
  clear(): void {
    this.#generation++;
    this.#answers.clear();
    this.#hazards.clear();
  }

  /**
   * Judges the names of a text; asks the database only for what is not known yet.
   *
   * @param key stands for the database, the role and the search path.
   */
  async resolve(lookups: Lookups, key: string): Promise<Resolution> {
    const answers = new Map<string, Answer>();
    const functions = this.#unanswered('function', lookups.functions, key, answers);
    const relations = this.#unanswered('relation', lookups.relations, key, answers);
    let hazards = this.#hazardsOf(key);
    const asksHazards = hazards === undefined && mayMeetHazards(lookups);

    if (functions.length > 0 || relations.length > 0 || asksHazards) {
      const generation = this.#generation;
      const expiresAt = this.#clock.now() + this.#expiresMillis;
      const rows = await this.#query(
        asksHazards ? namesAndHazardsQuery : namesQuery,
        [...columnsOf(functions), ...columnsOf(relations)],
        key,
      );
      const fresh = answersIn(rows, functions, relations, expiresAt);
      for (const [name, answer] of fresh) answers.set(name, answer);
      if (asksHazards) hazards = { dangers: hazardsIn(rows), expiresAt };
      if (generation === this.#generation) this.#remember(key, fresh, hazards);
    }

    return judge(lookups, answers, hazards);
  }

  /** Fills `answers` with what is remembered, and returns the rest. */
  #unanswered(
    kind: NameKind,
    names: readonly QualifiedName[],
    key: string,
    answers: Map<string, Answer>,
  ): readonly QualifiedName[] {
    return names.filter((name) => {
      const id = idOf(kind, name);
      const answer = this.#answers.get(`${key}\0${id}`);
      if (answer === undefined || answer.expiresAt <= this.#clock.now()) return true;
      answers.set(id, answer);
      return false;
    });
  }

  #hazardsOf(key: string): Hazards | undefined {
    const hazards = this.#hazards.get(key);
    return hazards === undefined || hazards.expiresAt <= this.#clock.now() ? undefined : hazards;
  }

  #remember(key: string, answers: Answers, hazards: Hazards | undefined): void {
    for (const [id, answer] of answers) this.#answers.set(`${key}\0${id}`, answer);
    if (hazards !== undefined) this.#hazards.set(key, hazards);
  }
}

function idOf(kind: string, { schema, name }: QualifiedName): string {
  return `${kind} ${schema ?? ''}\0${name}`;
}

function columnsOf(names: readonly QualifiedName[]): [(string | null)[], string[]] {
  return [names.map(({ schema }) => schema ?? null), names.map(({ name }) => name)];
}

function mayMeetHazards({ operators, types, columns }: Lookups): boolean {
  return operators.length > 0 || types.length > 0 || columns.length > 0;
}

function answersIn(
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

function hazardsIn(rows: readonly CatalogRow[]): ReadonlyMap<string, string> {
  const dangers = new Map<string, string>();
  for (const { kind, name, danger } of rows) {
    if (danger !== null && kind !== 'function' && kind !== 'relation')
      dangers.set(`${kind} ${name}`, danger);
  }
  return dangers;
}

function judge(lookups: Lookups, answers: Answers, hazards: Hazards | undefined): Resolution {
  const met = [
    ...lookups.operators.map((name) => `operator ${name}`),
    ...lookups.types.map((name) => `type ${name}`),
    ...lookups.columns.map((name) => `column ${name}`),
  ].map((id) => hazards?.dangers.get(id));
  const dangers = [...[...answers.values()].map(({ danger }) => danger), ...met];

  return {
    danger: dangers.find((danger) => danger !== undefined),
    unknown: lookups.functions
      .filter((name) => answers.get(idOf('function', name))?.isKnown !== true)
      .map(formatName),
    expiresAt: Math.min(
      ...[...answers.values()].map(({ expiresAt }) => expiresAt),
      hazards?.expiresAt ?? Number.POSITIVE_INFINITY,
    ),
  };
}

import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { type CatalogRow, namesAndHazardsQuery, namesQuery } from './catalog-query.ts';
import { FunctionLists, type FunctionListOptions } from './function-lists.ts';
import type { Lookups } from './lookups.ts';
import type { QualifiedName } from './qualified-name.ts';
import {
  type Answer,
  type Answers,
  answersIn,
  type Hazards,
  hazardsIn,
  idOf,
  judge,
  type Resolution,
} from './resolution.ts';

/**
 * Asks a live host of the cluster, in the session state (role, search path) that `key` stands for.
 * The SQL has `$n` placeholders; its bindings are arrays of text. `onSent` is called when a connection
 * has been found.
 */
export type CatalogReader = (
  sql: string,
  bindings: readonly unknown[],
  key: string,
  onSent?: () => void,
) => Promise<readonly CatalogRow[]>;

/** How a {@link Catalog} resolves names. */
export interface ResolveOptions {
  /** Asks anew for what does not hold longer than that, on the clock. */
  readonly outlasting?: number | undefined;
  /** Told when the question is on its way to a server. */
  readonly onSent?: (() => void) | undefined;
}

/** What a {@link Catalog} needs. */
export interface CatalogOptions {
  readonly query: CatalogReader;
  readonly clock: Clock;
  /** The user's word on functions, whatever it is that calls them. */
  readonly functions?: FunctionListOptions | undefined;
  /** How many names are remembered. */
  readonly max?: number | undefined;
  /** How long an answer holds, in milliseconds. */
  readonly expiresMillis?: number | undefined;
}

type NameKind = 'function' | 'relation';

const mostStates = 10_000;

/** Remembers what the database's catalog says of names, one batched look-up at a time. */
export class Catalog {
  readonly #query: CatalogReader;
  readonly #clock: Clock;
  readonly #expiresMillis: number;
  readonly #lists: readonly (readonly string[])[];
  readonly #answers: LRUCache<string, Answer>;
  readonly #hazards = new LRUCache<string, Hazards>({ max: mostStates });
  #generation = 0;

  constructor({ query, clock, functions, max = 100_000, expiresMillis = 60_000 }: CatalogOptions) {
    const { write, read } = new FunctionLists(functions).entries;
    this.#lists = [write, read];
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
  async resolve(
    lookups: Lookups,
    key: string,
    { outlasting = this.#clock.now(), onSent }: ResolveOptions = {},
  ): Promise<Resolution> {
    const answers = new Map<string, Answer>();
    const functions = this.#unanswered('function', lookups.functions, key, outlasting, answers);
    const relations = this.#unanswered('relation', lookups.relations, key, outlasting, answers);
    let hazards = this.#hazardsOf(key, outlasting);
    const asksHazards = hazards === undefined;

    if (functions.length > 0 || relations.length > 0 || asksHazards) {
      const generation = this.#generation;
      const expiresAt = this.#clock.now() + this.#expiresMillis;
      const rows = await this.#query(
        asksHazards ? namesAndHazardsQuery : namesQuery,
        [...columnsOf(functions), ...columnsOf(relations), ...this.#lists],
        key,
        onSent,
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
    outlasting: number,
    answers: Map<string, Answer>,
  ): readonly QualifiedName[] {
    return names.filter((name) => {
      const id = idOf(kind, name);
      const answer = this.#answers.get(`${key}\0${id}`);
      if (answer === undefined || answer.expiresAt <= outlasting) return true;
      answers.set(id, answer);
      return false;
    });
  }

  #hazardsOf(key: string, outlasting: number): Hazards | undefined {
    const hazards = this.#hazards.get(key);
    return hazards === undefined || hazards.expiresAt <= outlasting ? undefined : hazards;
  }

  #remember(key: string, answers: Answers, hazards: Hazards | undefined): void {
    for (const [id, answer] of answers) this.#answers.set(`${key}\0${id}`, answer);
    if (hazards !== undefined) this.#hazards.set(key, hazards);
  }
}

function columnsOf(names: readonly QualifiedName[]): [(string | null)[], string[]] {
  return [names.map(({ schema }) => schema ?? null), names.map(({ name }) => name)];
}

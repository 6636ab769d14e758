import { systemClock } from '../clock.ts';
import { asError } from '../errors.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { keepsNames, noteNameLoss } from '../hosts/named-support.ts';
import { errorFacts } from '../routing/error-facts.ts';
import type { Lease } from '../routing/lease.ts';
import type { NamedText } from '../sql/named-texts.ts';
import { NamedTexts } from '../sql/named-texts.ts';
import { debugPrepare } from './debug.ts';
import type { CompiledStatement } from './internals.ts';
import type { NamedStatements } from './named-statements.ts';
import { namedStatementsOf } from './named-statements.ts';
import type { RWSplit } from './rw-split.ts';
import type { Send } from './statement.ts';
import { runStatement } from './statement.ts';

const MAX_TEXTS = 10_000;
const MAX_CHARACTERS = 8_000_000;

// For so long a statement keeps the types of its parameters, when others change those of columns; and
// a text goes without its name that failed for having one.
const STALE_MILLIS = 60_000;

// What a server says of a plan, of types or of names that are not what they were when it prepared.
const STALE_CLASSES: ReadonlySet<string> = new Set(['0A', '22', '26', '42', 'XX']);

// invalid_sql_statement_name and duplicate_prepared_statement.
const NO_SUCH_NAME = '26000';
const NAME_EXISTS = '42P05';

/** Sends the texts of a client that come again and again as statements prepared by name. */
export class Preparation {
  readonly #split: RWSplit;
  readonly #max: number;
  readonly #texts = new NamedTexts(MAX_TEXTS, MAX_CHARACTERS);

  /** @param max how many a connection keeps. */
  constructor(split: RWSplit, max: number) {
    this.#split = split;
    this.#max = max;
  }

  /**
   * Runs a statement as `runStatement` does, by name where that is possible; where the name is what
   * it fails for, once more without.
   */
  run(
    lease: Lease,
    statement: CompiledStatement,
    send: Send<CompiledStatement>,
  ): Promise<CompiledStatement> {
    const text = isNameable(lease, statement) ? this.#find(lease, statement) : undefined;
    if (text === undefined) return runStatement(this.#split, lease, statement, send);

    let last: { readonly host: Host; readonly names: NamedStatements } | undefined;
    const sendNamed = (to: Connection): Promise<CompiledStatement> => {
      const names = keepsNames(lease.host) ? namedStatementsOf(to) : null;
      last = names?.areUsable === true ? { host: lease.host, names } : undefined;
      if (last === undefined) return send(to);
      return this.#send(last.names, text, statement, () => send(to));
    };
    return runStatement(this.#split, lease, statement, sendNamed).catch(async (error: unknown) => {
      const { sqlState = '', isFatal } = errorFacts(error);
      const isStale = !isFatal && STALE_CLASSES.has(sqlState.slice(0, 2));
      if (last === undefined || !isStale || last.names.mayHaveRun) throw error;
      if (lease.isReleased || lease.isLoose || lease.isCancelled) throw error;

      const isLost = sqlState === NO_SUCH_NAME || sqlState === NAME_EXISTS;
      if (isLost) noteLoss(last.host, last.names, sqlState, error);
      const result = await runStatement(this.#split, lease, statement, send);
      if (!isLost) text.restUntil = systemClock.now() + STALE_MILLIS;
      return result;
    });
  }

  #find({ state }: Lease, { sql }: CompiledStatement): NamedText | undefined {
    const { catalogKey } = state ?? this.#split.state.states.usual;
    const text = this.#texts.find(sql, catalogKey);
    return text !== undefined && text.restUntil < systemClock.now() ? text : undefined;
  }

  #send<T>(
    names: NamedStatements,
    { name }: NamedText,
    statement: CompiledStatement,
    send: () => T,
  ): T {
    const now = systemClock.now();
    const staleAt = Math.max(this.#split.schemaChangedAt, now - STALE_MILLIS);
    const { options } = statement;
    // Knex hands these to the driver at once.
    Object.assign(statement, { options: { name } });
    try {
      return names.send(name, this.#max, staleAt, now, send);
    } finally {
      Object.assign(statement, { options });
    }
  }
}

// In a transaction a failure could not be made up for, and a connection that the application took may
// be in one.
function isNameable(lease: Lease, { sql, method, options = {} }: CompiledStatement): boolean {
  if (lease.isTransaction || lease.isTaken || lease.unlock !== undefined) return false;
  return sql !== '' && method !== undefined && Object.keys(options).length === 0;
}

function noteLoss(host: Host, names: NamedStatements, sqlState: string, error: unknown): void {
  names.forget();
  if (!noteNameLoss(host, sqlState === NAME_EXISTS)) return;
  const { message } = asError(error);
  debugPrepare('%s keeps no statements prepared by name, and gets none: %s', host.name, message);
}

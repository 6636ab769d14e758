import { systemClock } from '../clock.ts';
import { asError } from '../errors.ts';
import type { Connection } from '../hosts/host.ts';
import { keepsNames, noteNameLoss } from '../hosts/named-support.ts';
import type { Lease } from '../routing/lease.ts';
import type { NamedText } from '../sql/named-texts.ts';
import { NamedTexts } from '../sql/named-texts.ts';
import { debugPrepare } from './debug.ts';
import type { CompiledStatement } from './internals.ts';
import { asNameRefusal, NameRefusal } from './name-refusal.ts';
import type { NamedStatements } from './named-statements.ts';
import { namedStatementsOf } from './named-statements.ts';
import type { RWSplit } from './rw-split.ts';
import type { Send } from './statement.ts';
import { runStatement } from './statement.ts';

const MAX_TEXTS = 10_000;
const MAX_CHARACTERS = 8_000_000;

// A statement has the types of columns from when it was prepared; others may have changed them. And a
// text that failed for its name goes without for as long, when all that was prepared of it is stale.
const STALE_MILLIS = 60_000;

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
   * Runs a statement as {@link runStatement} does, by name where that is possible; where that may be
   * what it fails for, once more without.
   */
  run(
    lease: Lease,
    statement: CompiledStatement,
    send: Send<CompiledStatement>,
  ): Promise<CompiledStatement> {
    const text = isNameable(lease, statement) ? this.#find(lease, statement) : undefined;
    if (text === undefined) return runStatement(this.#split, lease, statement, send);

    const sendNamed = (to: Connection): Promise<CompiledStatement> => {
      const { host } = lease;
      const names = keepsNames(host) ? namedStatementsOf(to) : null;
      if (names?.areUsable !== true) return send(to);
      const sent = this.#send(names, text, statement, host.role !== 'primary', () => send(to));
      return sent.catch((error: unknown) => {
        throw asNameRefusal(error, host, names);
      });
    };
    const run = runStatement(this.#split, lease, statement, sendNamed);
    return run.catch((error: unknown) => this.#unnamed(lease, statement, send, text, error));
  }

  // Not where the statement was sent: what asked for its position, behind it, would be too early.
  async #unnamed(
    lease: Lease,
    statement: CompiledStatement,
    send: Send<CompiledStatement>,
    text: NamedText,
    error: unknown,
  ): Promise<CompiledStatement> {
    if (!(error instanceof NameRefusal)) throw error;
    if (error.loss !== undefined) noteLoss(error);
    if (lease.isReleased || lease.isLoose || lease.isCancelled) throw error.cause;

    const result = await runStatement(this.#split, lease, statement, send);
    if (error.loss === undefined) text.restUntil = systemClock.now() + STALE_MILLIS;
    return result;
  }

  #find({ state }: Lease, { sql }: CompiledStatement): NamedText | undefined {
    const { literalKey } = state ?? this.#split.state.states.usual;
    const text = this.#texts.find(sql, literalKey);
    return text !== undefined && text.restUntil < systemClock.now() ? text : undefined;
  }

  #send<T>(
    names: NamedStatements,
    { name }: NamedText,
    statement: CompiledStatement,
    mayLag: boolean,
    send: () => T,
  ): T {
    const now = systemClock.now();
    const { schemaChangedAt } = this.#split;
    // A replica may come to the change only after it has prepared the text.
    const isUnsure = mayLag && now - schemaChangedAt < STALE_MILLIS;
    const staleAt = isUnsure ? now : Math.max(schemaChangedAt, now - STALE_MILLIS);
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

function noteLoss({ host, names, loss, cause }: NameRefusal): void {
  names.forget();
  if (!noteNameLoss(host, loss === 'another')) return;
  const { message } = asError(cause);
  debugPrepare('%s keeps no statements prepared by name, and gets none: %s', host.name, message);
}

import type { FunctionLists } from './function-lists.ts';
import { type Lookups, noLookups } from './lookups.ts';
import type { QualifiedName } from './qualified-name.ts';
import type { LockUse, Verdict } from './verdict.ts';

const noNames: readonly string[] = [];

/** What was found in the syntax tree of one text; the worst finding decides. */
export class Findings {
  readonly lists: FunctionLists;
  changesCatalog = false;
  mayMakeTemporary = false;
  #session: string | undefined;
  #sessionChange: string | undefined;
  #opensTransaction: string | undefined;
  #proved: string | undefined;
  #unproved: string | undefined;
  #lockUse: LockUse | undefined;
  #readsFunctionRows = false;
  readonly #functions = new Map<string, QualifiedName>();
  readonly #relations = new Map<string, QualifiedName>();
  readonly #operators = new Map<string, QualifiedName>();
  readonly #types = new Set<string>();
  readonly #columns = new Set<string>();
  readonly #fields = new Set<string>();

  constructor(lists: FunctionLists) {
    this.lists = lists;
  }

  /** A replica refuses this. */
  writes(reason: string): void {
    this.#proved ??= reason;
  }

  /** A replica may run this, but it belongs on the primary. */
  mayWrite(reason: string): void {
    this.#unproved ??= reason;
  }

  unknown(what: string): void {
    this.mayWrite(`unknown: ${what}`);
  }

  /** Only the session that ran an earlier statement can run this one. */
  needsSession(reason: string): void {
    this.#session ??= reason;
  }

  changesSession(change: string): void {
    this.#sessionChange ??= change;
  }

  leavesOpen(transaction: string): void {
    this.#opensTransaction ??= transaction;
  }

  usesLock(use: LockUse): void {
    // A text that both takes and gives back may leave a lock behind.
    if (this.#lockUse === undefined || use === 'lock') this.#lockUse = use;
  }

  callsFunction(name: QualifiedName): void {
    this.#functions.set(keyOf(name), name);
  }

  readsRelation(name: QualifiedName): void {
    this.#relations.set(keyOf(name), name);
  }

  usesOperator(name: QualifiedName): void {
    this.#operators.set(keyOf(name), name);
  }

  castsTo(type: string): void {
    this.#types.add(type);
  }

  readsColumn(name: string): void {
    this.#columns.add(name);
  }

  /** A row of a function may be a value of any type, and so may be the `t` of `t.f`. */
  readsFunctionRows(): void {
    this.#readsFunctionRows = true;
  }

  readsField(name: string): void {
    this.#fields.add(name);
  }

  /** Takes over what a statement inside of another one does. */
  include(inner: Findings, doesRun: boolean): void {
    const { reason, intent, proved } = inner.verdict();
    if (doesRun) this.mayMakeTemporary ||= inner.mayMakeTemporary;
    if (intent === 'read') {
      for (const name of inner.#functions.values()) this.callsFunction(name);
      for (const name of inner.#relations.values()) this.readsRelation(name);
      for (const name of inner.#operators.values()) this.usesOperator(name);
      for (const name of inner.#types) this.#types.add(name);
      for (const name of inner.#columns) this.#columns.add(name);
      for (const name of inner.#fields) this.#fields.add(name);
      this.#readsFunctionRows ||= inner.#readsFunctionRows;
    } else if (doesRun) {
      if (intent === 'write' && proved) this.writes(reason);
      else this.mayWrite(reason);
      if (inner.#sessionChange !== undefined) this.changesSession(inner.#sessionChange);
      if (inner.#lockUse !== undefined) this.usesLock(inner.#lockUse);
      this.changesCatalog ||= inner.changesCatalog;
    } else this.mayWrite(`explains a statement that ${reason}`);
  }

  /** The names that decide whether this is a read; none where it is known not to be one. */
  lookups(): Lookups {
    if (this.verdict().intent !== 'read') return noLookups;
    return {
      functions: [...this.#functions.values()],
      relations: [...this.#relations.values()],
      operators: [...this.#operators.values()],
      types: this.#types.size === 0 ? noNames : [...this.#types],
      columns: this.#columns.size === 0 ? noNames : [...this.#columns],
      fields: this.#readsFunctionRows ? [...this.#fields, ...this.#columns] : [...this.#fields],
    };
  }

  verdict(): Verdict {
    const session = this.#opensTransaction ?? this.#sessionChange ?? this.#session;
    const write = this.#proved ?? this.#unproved;

    return Object.freeze({
      intent: session !== undefined ? 'session' : write !== undefined ? 'write' : 'read',
      proved: session !== undefined || this.#proved !== undefined || write === undefined,
      reason: session ?? write ?? 'only reads',
      ...(this.#sessionChange !== undefined && { sessionChange: this.#sessionChange }),
      ...(this.#lockUse !== undefined && { lockUse: this.#lockUse }),
      ...(this.#opensTransaction !== undefined && { opensTransaction: this.#opensTransaction }),
      ...(this.mayMakeTemporary && { mayMakeTemporary: true }),
      changesCatalog: this.changesCatalog,
    });
  }
}

function keyOf({ schema, name }: QualifiedName): string {
  return `${schema ?? ''}\0${name}`;
}

import { ISOLATION, isSerializable, SERIALIZABLE } from './isolation.ts';
import type { Reports } from './reports.ts';
import type { WantedState } from './wanted-state.ts';

/** One setting to be changed: to a value, or with null to what the server has for it. */
export interface Change {
  readonly name: string;
  readonly value: string | null;
}

/** What a server answered to a {@link Change}. */
export interface Changed {
  readonly name: string;
  /** Null where there was no such setting. */
  readonly before: string | null;
  readonly after: string;
  /** Which of the server's sessions answered; undefined where that isn't told. */
  readonly session?: string | undefined;
}

const none: readonly Change[] = [];

// What is set here is laid over what was set before: the order of days and months outlives a style.
const MERGES: ReadonlySet<string> = new Set(['datestyle']);

/**
 * What is known of a connection's session: the settings that differ from those it began with.
 *
 * A setting is unknown from the moment that a change of it is sent, until that is known to have
 * been committed; what is unknown is sent again.
 */
export class KnownState {
  readonly #reports: Reports;
  /** Undefined where the value is unknown. */
  readonly #values = new Map<string, string | undefined>();
  /** What settings were before their first change, which may be of the application's `afterCreate`. */
  readonly #before = new Map<string, string | null>();
  #is: WantedState | undefined;
  #hasRunCode = false;

  constructor(reports: Reports) {
    this.#reports = reports;
  }

  /** What has to change for the wanted state, in the order in which it is to be done. */
  differenceTo(wanted: WantedState): readonly Change[] {
    for (const [name, before] of this.#reports.drifted()) this.#doubt(name, before);
    if (this.#is === wanted) return none;

    const changes: Change[] = [];
    for (const name of this.#values.keys()) {
      if (!wanted.values.has(name) && name !== 'role') changes.push(this.#restore(name));
    }
    for (const [name, value] of wanted.values) {
      if (name === 'role' || this.#values.get(name) === value) continue;
      if (MERGES.has(name) && this.#values.has(name)) changes.push(this.#restore(name));
      changes.push({ name, value });
    }
    const all = this.#aroundRole(changes, wanted.values.get('role'));
    if (all.length === 0 || !this.isIsolated || all.some(({ name }) => name === ISOLATION)) {
      return all;
    }
    // It is left for the change itself.
    const value = wanted.values.get(ISOLATION);
    return [value === undefined ? this.#restore(ISOLATION) : { name: ISOLATION, value }, ...all];
  }

  /** Whether transactions may begin in an isolation in which a replica changes nothing. */
  get isIsolated(): boolean {
    return (
      this.#values.has(ISOLATION) && isSerializable(this.#values.get(ISOLATION) ?? SERIALIZABLE)
    );
  }

  /** Notes that changes are on their way. */
  begin(changes: readonly Change[]): void {
    this.#is = undefined;
    for (const { name } of changes) this.#values.set(name, undefined);
  }

  /** Notes what a setting was, before anything of ours had changed it. */
  noteBefore({ name, before }: Changed): void {
    // Code that ran may have set what nobody had looked at.
    if (!this.#before.has(name)) this.#before.set(name, this.#hasRunCode ? null : before);
  }

  /** Notes that changes were committed, which led to the wanted state. */
  confirm(changes: readonly Change[], answers: readonly Changed[], wanted: WantedState): void {
    for (const { name } of changes) {
      const value = wanted.values.get(name);
      if (value === undefined) this.#values.delete(name);
      else this.#values.set(name, value);
    }
    for (const { name, after } of answers) this.#reports.expect(name, after);
    this.#is = this.#isIn(wanted) ? wanted : undefined;
  }

  /** Whether it is known what tenants differ by was as the connection opened. */
  get hasBegun(): boolean {
    return this.#before.has('role') && this.#before.has('search_path');
  }

  /** Notes what settings were as the connection opened, where something may change them unseen. */
  began(settings: Iterable<readonly [string, string]>): void {
    for (const [name, before] of settings) this.#before.set(name, before);
  }

  /** Notes that code ran that may have changed what tenants differ by, and whatever was ever changed here. */
  doubtAll(): void {
    this.#hasRunCode = true;
    const names = new Set(['role', 'search_path', ...this.#before.keys(), ...this.#values.keys()]);
    for (const name of names) this.#doubt(name, null);
  }

  /** Notes that the role in use may not be what its name means by now. */
  doubtRole(): void {
    if (this.#values.has('role')) this.#doubt('role', null);
  }

  // Whatever the setting is by now, it is not what it was before.
  #doubt(name: string, before: string | null): void {
    this.#is = undefined;
    if (!this.#before.has(name)) this.#before.set(name, before);
    this.#values.set(name, undefined);
  }

  #restore(name: string): Change {
    return { name, value: this.#before.get(name) ?? null };
  }

  // A role may lack the right to change a setting: it is left first, and taken last.
  #aroundRole(changes: readonly Change[], role: string | undefined): readonly Change[] {
    const isChanged = this.#values.has('role');
    const isRight = role === undefined ? !isChanged : this.#values.get('role') === role;
    if (changes.length === 0 && isRight) return none;

    const last = role === undefined ? this.#restore('role') : { name: 'role', value: role };
    if (changes.length === 0) return [last];
    const first = isChanged ? [{ name: 'role', value: 'none' }] : [];
    const isLastNeeded = role !== undefined || (isChanged && last.value !== 'none');
    return [...first, ...changes, ...(isLastNeeded ? [last] : [])];
  }

  #isIn({ values }: WantedState): boolean {
    if (values.size !== this.#values.size) return false;
    return [...values].every(([name, value]) => this.#values.get(name) === value);
  }
}

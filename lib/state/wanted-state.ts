import { inspect } from 'util';
import { LRUCache } from 'lru-cache';
import type { StateSettings } from '../config/settings.ts';
import { ISOLATION, isSerializable } from './isolation.ts';

// How many states are remembered; whatever is forgotten is made anew, and compared by its values.
const MAX_STATES = 10_000;

let count = 0;

/** The session state that a statement is to run in; equal ones are the same object, as a rule. */
export class WantedState {
  /** Stands for this very object. */
  readonly number: number = ++count;
  readonly settings: StateSettings;
  /** Stands for all that is wanted. */
  readonly key: string;
  /** Stands for what decides which objects a name means: the search path and the role. */
  readonly catalogKey: string;
  /** As `catalogKey`, and what decides how a literal is read: it is, when its text is prepared. */
  readonly literalKey: string;
  /** What is wanted by name of the server's setting, as it is sent. */
  readonly values: ReadonlyMap<string, string>;
  /** Whether transactions begin as serializable ones, which replicas refuse. */
  readonly isSerializable: boolean;
  readonly #merged = new WeakMap<WantedState, WantedState>();

  constructor(settings: StateSettings, key: string) {
    const { searchPath, role } = settings;
    this.settings = settings;
    this.key = key;
    this.catalogKey =
      searchPath === undefined && role === undefined
        ? ''
        : keyOf({ searchPath, role, settings: {} });
    const ofServer = Object.entries(settings.settings).filter(([name]) => !name.includes('.'));
    this.literalKey =
      ofServer.length === 0
        ? this.catalogKey
        : keyOf({ searchPath, role, settings: Object.fromEntries(ofServer) });
    this.values = valuesOf(settings);
    this.isSerializable = isSerializable(this.values.get(ISOLATION) ?? '');
  }

  /** What is wanted where `inner` is wanted within this: field by field, setting by setting. */
  with(inner: WantedState): WantedState {
    if (inner.values.size === 0 || inner === this) return this;
    if (this.values.size === 0) return inner;

    const known = this.#merged.get(inner);
    if (known !== undefined) return known;
    const merged = wantedState({
      searchPath: inner.settings.searchPath ?? this.settings.searchPath,
      role: inner.settings.role ?? this.settings.role,
      settings: { ...this.settings.settings, ...inner.settings.settings },
    });
    this.#merged.set(inner, merged);
    return merged;
  }

  /** What `util.inspect` shows: names alone, since values can be secrets. */
  toString(): string {
    return `WantedState { ${[...this.values.keys()].join(', ')} }`;
  }
}

// A computed name in the class would need its type spelled out.
Object.defineProperty(WantedState.prototype, inspect.custom, {
  value(this: WantedState) {
    return this.toString();
  },
});

const states = new LRUCache<string, WantedState>({ max: MAX_STATES });

/** Finds, or makes, the state that settings describe. */
export function wantedState(settings: StateSettings): WantedState {
  const key = keyOf(settings);
  const known = states.get(key);
  if (known !== undefined) return known;

  const made = new WantedState(settings, key);
  states.set(key, made);
  return made;
}

/** The state that a {@link WantedState.catalogKey} stands for. */
export function stateOfKey(key: string): WantedState {
  return key === '' ? nothingWanted : wantedState(settingsOf(key));
}

function keyOf({ searchPath, role, settings }: StateSettings): string {
  const entries = Object.entries(settings);
  if (entries.length > 1) entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([searchPath ?? null, role ?? null, entries]);
}

function settingsOf(key: string): StateSettings {
  // Only what `keyOf` has written comes here.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const [searchPath, role, entries] = JSON.parse(key) as [
    string[] | null,
    string | null,
    [string, string][],
  ];
  return {
    searchPath: searchPath ?? undefined,
    role: role ?? undefined,
    settings: Object.fromEntries(entries),
  };
}

function valuesOf({ searchPath, role, settings }: StateSettings): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  // A name is quoted for the list that the setting is; the list as a whole is sent as a value.
  if (searchPath !== undefined) values.set('search_path', searchPath.map(quoteName).join(', '));
  for (const [name, value] of Object.entries(settings)) values.set(name, value);
  if (role !== undefined) values.set('role', role);
  return values;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Nothing but what a connection has from the beginning. */
export const nothingWanted: WantedState = wantedState({
  searchPath: undefined,
  role: undefined,
  settings: {},
});

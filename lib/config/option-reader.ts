import { ConfigError } from '../errors.ts';
import { invalidOption, invalidSecret, listKnown } from './invalid-option.ts';
import { nearestName } from './nearest-name.ts';
import type { NumberRange } from './number-range.ts';
import { isOptionsObject } from './options-object.ts';

/**
 * Reads the options of one object, each checked as it is read.
 *
 * An option that is `undefined` counts as not given. After the last one, {@link OptionReader.finish}
 * refuses what nobody asked for.
 */
export class OptionReader {
  readonly #path: string;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #known = new Set<string>();

  constructor(value: unknown, path: string) {
    if (value !== undefined && !isOptionsObject(value)) {
      // It may be a secret that was written one level too high.
      throw invalidSecret(path, value, 'an object of options');
    }
    this.#path = path;
    this.#values = value ?? {};
  }

  pathOf(key: string): string {
    return `${this.#path}.${key}`;
  }

  /** Whether an option is written, be it as `undefined`. */
  has(key: string): boolean {
    return Object.hasOwn(this.#values, key);
  }

  read(key: string): unknown {
    this.#known.add(key);
    return this.#values[key];
  }

  /** Reads `keys` unchecked, into a copy of those that are given. */
  pick(keys: Iterable<string>): Record<string, unknown> {
    const values = [...keys].map((key) => [key, this.read(key)] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  /** The reader of the options under `key`. */
  group(key: string): OptionReader {
    return new OptionReader(this.read(key), this.pathOf(key));
  }

  number<T>(key: string, fallback: T, range: NumberRange): number | T {
    const value = this.read(key);
    if (value === undefined) return fallback;
    if (typeof value !== 'number' || !range.contains(value)) {
      throw invalidOption(this.pathOf(key), value, range.allowed);
    }
    return value;
  }

  boolean(key: string, fallback: boolean): boolean {
    return this.choice(key, fallback, [true, false]);
  }

  choice<const V, T>(key: string, fallback: T, known: readonly V[]): V | T {
    const value = this.read(key);
    if (value === undefined) return fallback;
    const chosen = known.find((candidate) => candidate === value);
    if (chosen === undefined) throw invalidOption(this.pathOf(key), value, listKnown(known));
    return chosen;
  }

  text(key: string): string | undefined {
    const value = this.read(key);
    if (value === undefined) return undefined;
    return requireText(value, this.pathOf(key));
  }

  /** A list of non-empty strings, as a frozen copy. */
  texts(key: string): readonly string[] {
    const value = this.read(key) ?? [];
    if (!Array.isArray(value)) {
      throw invalidOption(this.pathOf(key), value, 'a list of non-empty strings');
    }
    return Object.freeze(
      value.map((item: unknown, index) => requireText(item, `${this.pathOf(key)}[${index}]`)),
    );
  }

  /** @throws {ConfigError} when the object holds an option that was not read. */
  finish(): void {
    const known = [...this.#known];
    const unknown = Object.keys(this.#values).find((key) => !this.#known.has(key));
    if (unknown === undefined) return;

    const path = this.pathOf(unknown);
    throw new ConfigError(
      path,
      `${path} is no option; the nearest known one is "${nearestName(unknown, known)}".`,
    );
  }
}

function requireText(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') {
    throw invalidOption(path, value, 'a non-empty string');
  }
  return value;
}

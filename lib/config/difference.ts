import { sourcesOf } from './function-sources.ts';
import { TlsSettings } from './tls-settings.ts';

// Settings are flat; what goes deeper than this goes in a circle.
const MOST_LEVELS = 8;

/**
 * Finds where two settings differ, hidden members included; undefined where they are alike.
 *
 * Functions, and objects of a class, are alike only if they are the same one. No value is turned
 * into text: passwords are among them.
 *
 * @returns the path of the first difference, as in `connection.password`.
 */
export function differenceOf(
  one: unknown,
  other: unknown,
  path: string,
  levels: number = MOST_LEVELS,
): string | undefined {
  if (Object.is(one, other)) return undefined;
  if (levels === 0 || !isObject(one) || !isObject(other)) return path;

  if (typeof one === 'function' || typeof other === 'function') {
    const [made, likewise] = [sourcesOf(one), sourcesOf(other)];
    if (made === undefined || likewise === undefined) return path;
    return differenceOf(made, likewise, path, levels - 1) && path;
  }
  if (one instanceof Uint8Array && other instanceof Uint8Array) {
    return Buffer.compare(one, other) === 0 ? undefined : path;
  }
  if (!hasMembers(one) || !hasMembers(other) || Array.isArray(one) !== Array.isArray(other)) {
    return path;
  }

  const names = new Set([...Object.getOwnPropertyNames(one), ...Object.getOwnPropertyNames(other)]);
  for (const name of names) {
    const step = Array.isArray(one) && name !== 'length' ? `[${name}]` : `.${name}`;
    const [mine, theirs]: unknown[] = [Reflect.get(one, name), Reflect.get(other, name)];
    const found = differenceOf(mine, theirs, path + step, levels - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function hasMembers(value: object): boolean {
  if (Array.isArray(value) || value instanceof TlsSettings) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

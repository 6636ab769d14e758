import { invalidSecret } from './invalid-option.ts';

/**
 * Reads an option that holds a secret or a list of them, as a frozen list; an empty one where it is
 * not given.
 *
 * @throws {ConfigError} when it is anything else; nothing of it is shown.
 */
export function readSecrets(value: unknown, path: string): readonly string[] {
  if (value === undefined) return Object.freeze([]);
  const secrets: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (secrets.length > 0 && secrets.every(isSecret)) return Object.freeze([...secrets]);
  throw invalidSecret(path, value, 'a non-empty string or a list of them');
}

function isSecret(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

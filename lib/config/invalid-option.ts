import { ConfigError } from '../errors.ts';
import { showKind, showValue } from './shown-value.ts';

/** Makes the error of a value that is not allowed; `allowed` completes the sentence "it must be …". */
export function invalidOption(path: string, value: unknown, allowed: string): ConfigError {
  return new ConfigError(path, `${path} is ${showValue(value)}; it must be ${allowed}.`);
}

/** Makes the same error of a value that is never shown. */
export function invalidSecret(path: string, value: unknown, allowed: string): ConfigError {
  return new ConfigError(path, `${path} is ${showKind(value)}; it must be ${allowed}.`);
}

/** Writes the values that an option knows, for an error message. */
export function listKnown(known: readonly unknown[]): string {
  return `one of ${known.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(', ')}`;
}

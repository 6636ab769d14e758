import { ConfigError } from '../errors.ts';
import type { OptionReader } from './option-reader.ts';
import type { FunctionSettings } from './settings.ts';

/**
 * Completes `functions`.
 *
 * @throws {ConfigError} when a function is said to read and to write.
 */
export function resolveFunctions(reader: OptionReader): FunctionSettings {
  const read = reader.texts('read');
  const write = reader.texts('write');
  const unknown = reader.choice('unknown', 'primary', ['primary', 'replica']);
  reader.finish();

  const writing = new Set(write.map(normalize));
  const both = read.find((name) => writing.has(normalize(name)));
  if (both !== undefined) {
    const path = reader.pathOf('read');
    throw new ConfigError(
      path,
      `${path} and ${reader.pathOf('write')} both name "${both}"; name it once.`,
    );
  }
  return Object.freeze({ read, write, unknown });
}

// PostgreSQL folds what is not quoted to lower case.
function normalize(name: string): string {
  return name.includes('"') ? name : name.toLowerCase();
}

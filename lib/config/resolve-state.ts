import { ConfigError } from '../errors.ts';
import { invalidOption } from './invalid-option.ts';
import type { OptionReader } from './option-reader.ts';
import { isOptionsObject } from './options-object.ts';
import type { StateSettings } from './settings.ts';

/** Completes `state`; without it connections keep the server's own. */
export function resolveState(reader: OptionReader): StateSettings | undefined {
  if (reader.read('state') === undefined) return undefined;

  const group = reader.group('state');
  const settings = {
    searchPath: readSearchPath(group),
    role: group.text('role'),
    settings: readSettings(group.read('settings'), group.pathOf('settings')),
  };
  group.finish();
  return Object.freeze(settings);
}

function readSearchPath(group: OptionReader): readonly string[] | undefined {
  const value = group.read('searchPath');
  if (value === undefined) return undefined;
  // Knex: `searchPath: 'a, b'` names two schemas.
  if (typeof value === 'string' && value !== '') {
    return Object.freeze(value.split(',').map((schema) => schema.trim()));
  }
  return group.texts('searchPath');
}

function readSettings(value: unknown, path: string): Readonly<Record<string, string>> {
  if (value !== undefined && !isOptionsObject(value)) {
    throw invalidOption(path, value, 'an object of server settings');
  }

  return Object.freeze(
    Object.fromEntries(
      Object.entries(value ?? {}).map(([name, setting]) => {
        if (!/^[a-z_][\w$]*(?:\.[a-z_][\w$]*)*$/i.test(name)) {
          throw new ConfigError(
            path,
            `${path} has "${name}", which is no name of a server setting.`,
          );
        }
        if (!isSetting(setting)) {
          throw invalidOption(`${path}.${name}`, setting, 'a string, a finite number or a boolean');
        }
        return [name, String(setting)];
      }),
    ),
  );
}

function isSetting(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

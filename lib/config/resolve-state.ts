import { ConfigError } from '../errors.ts';
import { invalidOption } from './invalid-option.ts';
import type { OptionReader } from './option-reader.ts';
import { isOptionsObject } from './options-object.ts';
import type { StateSettings } from './settings.ts';

// PostgreSQL cuts off what is longer, and two names would be one.
const MAX_NAME_BYTES = 63;

// By lower-case name: why it can't be wanted.
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['role', 'is the option role'],
  ['search_path', 'is the option searchPath'],
  ['session_authorization', 'decides who the connection belongs to'],
  ['client_encoding', 'is what the driver relies on'],
  ['standard_conforming_strings', 'changes what texts mean'],
  ['transaction_isolation', 'lasts for one transaction; default_transaction_isolation does not'],
  ['transaction_read_only', 'lasts for one transaction; default_transaction_read_only does not'],
  ['transaction_deferrable', 'lasts for one transaction; default_transaction_deferrable does not'],
]);

/** Completes `state`; without it connections keep the server's own. */
export function resolveState(reader: OptionReader): StateSettings | undefined {
  return reader.read('state') === undefined ? undefined : readState(reader.group('state'));
}

/** Reads a state that is wanted, and nothing else. */
export function readState(group: OptionReader): StateSettings {
  const settings = {
    searchPath: readSearchPath(group),
    role: readRole(group),
    settings: readSettings(group.read('settings'), group.pathOf('settings')),
  };
  group.finish();
  return Object.freeze(settings);
}

function readSearchPath(group: OptionReader): readonly string[] | undefined {
  const value = group.read('searchPath');
  if (value === undefined) return undefined;
  const path = group.pathOf('searchPath');
  if (typeof value !== 'string' || value === '') {
    return Object.freeze(group.texts('searchPath').map((name) => checkName(name, path)));
  }
  // One name, whatever is in it: it may be a tenant's.
  return Object.freeze([checkName(value, path)]);
}

function readRole(group: OptionReader): string | undefined {
  const role = group.text('role');
  return role === undefined ? undefined : checkName(role, group.pathOf('role'));
}

function checkName(name: string, path: string): string {
  // Almost all are far shorter, and known to be without counting bytes.
  if (name.length * 3 <= MAX_NAME_BYTES || Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  throw invalidOption(path, name, `a name of at most ${MAX_NAME_BYTES} bytes`);
}

function readSettings(value: unknown, path: string): Readonly<Record<string, string>> {
  if (value !== undefined && !isOptionsObject(value)) {
    throw invalidOption(path, value, 'an object of server settings');
  }

  return Object.freeze(
    Object.fromEntries(
      Object.entries(value ?? {}).map(([name, setting]) => [
        readName(name, path),
        readValue(setting, `${path}.${name}`),
      ]),
    ),
  );
}

// For PostgreSQL, names in capitals are the same.
function readName(written: string, path: string): string {
  const name = written.toLowerCase();
  if (!/^[a-z_][\w$]*(?:\.[a-z_][\w$]*)*$/.test(name)) {
    throw new ConfigError(path, `${path} has "${written}", which is no name of a server setting.`);
  }
  const reason = REFUSED.get(name);
  if (reason === undefined) return name;
  throw new ConfigError(`${path}.${written}`, `${path} can't have "${written}", which ${reason}.`);
}

function readValue(setting: unknown, path: string): string {
  if (isSetting(setting)) return String(setting);
  throw invalidOption(path, setting, 'a string, a finite number or a boolean');
}

function isSetting(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

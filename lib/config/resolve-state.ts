import { ConfigError } from '../errors.ts';
import { invalidOption } from './invalid-option.ts';
import type { OptionReader } from './option-reader.ts';
import { isOptionsObject } from './options-object.ts';
import type { StateSettings } from './settings.ts';

// PostgreSQL cuts off what is longer, and two names would be one.
const MAX_NAME_BYTES = 63;

// Each is changed by a statement's parameters, which PostgreSQL counts with two bytes.
const MAX_SETTINGS = 1000;

// By lower-case name: why it can't be wanted.
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['role', 'is the option role'],
  ['search_path', 'is the option searchPath'],
  ['seed', 'can be set, and not be told or taken back'],
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
  // A tenant that is missing must not become nobody in particular.
  for (const key of ['searchPath', 'role', 'settings']) {
    if (group.has(key) && group.read(key) === undefined) {
      throw invalidOption(group.pathOf(key), undefined, 'left out, or say what is wanted');
    }
  }
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
    return Object.freeze(group.texts('searchPath').map((name) => checkSchema(name, path)));
  }
  // One name, whatever is in it: it may be a tenant's.
  return Object.freeze([checkSchema(value, path)]);
}

// These stand for another schema even where they are quoted.
function checkSchema(name: string, path: string): string {
  if (name === '$user') {
    const advice = 'which is the schema named after the role in use; name that schema';
    throw new ConfigError(path, `${path} can't have "$user", ${advice}.`);
  }
  if (name.startsWith('pg_temp')) {
    const advice = "which is a session's own for temporary tables; name a schema that stays";
    throw new ConfigError(path, `${path} can't have "${name}", ${advice}.`);
  }
  return checkName(name, path);
}

function readRole(group: OptionReader): string | undefined {
  const role = group.text('role');
  return role === undefined ? undefined : checkName(role, group.pathOf('role'));
}

function checkName(name: string, path: string): string {
  checkText(name, path);
  // Almost all are far shorter, and known to be without counting bytes.
  if (name.length * 3 <= MAX_NAME_BYTES || Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  throw invalidOption(path, name, `a name of at most ${MAX_NAME_BYTES} bytes`);
}

function readSettings(value: unknown, path: string): Readonly<Record<string, string>> {
  if (value !== undefined && !isOptionsObject(value)) {
    throw invalidOption(path, value, 'an object of server settings');
  }

  const written = Object.entries(value ?? {});
  if (written.length > MAX_SETTINGS) {
    throw invalidOption(path, written.length, `at most ${MAX_SETTINGS} settings`);
  }
  const settings: Record<string, string> = {};
  for (const [name, setting] of written) {
    const known = readName(name, path);
    if (Object.hasOwn(settings, known)) {
      throw new ConfigError(`${path}.${name}`, `${path} has "${known}" twice.`);
    }
    settings[known] = readValue(setting, `${path}.${name}`);
  }
  return Object.freeze(settings);
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
  if (typeof setting === 'string') return checkText(setting, path);
  if (isSetting(setting)) return String(setting);
  throw invalidOption(path, setting, 'a string, a finite number or a boolean');
}

function isSetting(value: unknown): value is number | boolean {
  return typeof value === 'boolean' || Number.isFinite(value);
}

// Texts that differ would arrive as the same one, or be cut off.
function checkText(text: string, path: string): string {
  if (!/[\0\p{Surrogate}]/u.test(text)) return text;
  throw invalidOption(
    path,
    text,
    'a text that PostgreSQL can hold: no NUL, no half of a character',
  );
}

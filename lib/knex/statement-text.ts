import type { CompiledStatement } from './internals.ts';
import { hasEscapedName } from './sent-text.ts';

// Raw text without any of these words leaves nothing behind on its session and changes no schema.
const MAY_MATTER =
  /\b(?:set|reset|listen|unlisten|load|discard|prepare|deallocate|declare|temp|temporary|pg_temp\w*|begin|start|savepoint|create|alter|drop|grant|revoke|comment|set_config|pg_settings|pg_(?:try_)?advisory_\w+)\b/i;

// Raw fragments in a builder may do these. A column's name is quoted.
const HAS_SESSION_EFFECT = /set_config|advisory|pg_settings|[\s/]temp(?:orary)?\b|pg_temp/i;

/** The text that reaches the server, in Knex's form, where `?` is a placeholder and `\\?` is not. */
export function textOf({ sql, options }: CompiledStatement): string {
  return typeof options?.text === 'string' ? options.text.replaceAll('?', String.raw`\?`) : sql;
}

/** Whether a statement has to be read to know what it does to its session or to the schema. */
export function mayChangeMore(method: string | undefined, text: string): boolean {
  if (hasEscapedName(text)) return true;
  // A schema builder's statements have no method, and may be raw text.
  if (method === 'raw' || method === undefined) return MAY_MATTER.test(text);
  return HAS_SESSION_EFFECT.test(text) || text.includes(';');
}

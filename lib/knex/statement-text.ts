import type { CompiledStatement } from './internals.ts';

// Raw text without any of these leaves nothing behind on its session and changes no schema.
const MAY_MATTER =
  /\b(?:set|reset|listen|unlisten|load|discard|prepare|deallocate|declare|begin|start|savepoint|create|alter|drop|grant|revoke|comment|set_config|pg_settings|pg_(?:try_)?advisory_\w+)\b|temp|u&"/i;

// Raw fragments in a builder may do these, or begin another statement.
const HAS_SESSION_EFFECT = /set_config|advisory|pg_settings|pg_temp|[\s/]temp(?:orary)?\b|;|u&"/i;

/** The text that reaches the server, in Knex's form, where `?` is a placeholder and `\\?` is not. */
export function textOf({ sql, options }: CompiledStatement): string {
  return typeof options?.text === 'string' ? options.text.replaceAll('?', String.raw`\?`) : sql;
}

/** Whether a statement has to be read to know what it does to its session or to the schema. */
export function mayChangeMore(method: string | undefined, text: string): boolean {
  // A schema builder's statements have no method, and may be raw text.
  const isRaw = method === 'raw' || method === undefined;
  return (isRaw ? MAY_MATTER : HAS_SESSION_EFFECT).test(text);
}

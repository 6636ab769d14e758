import type { SQLQuery } from '@databases/sql';
import type { Knex } from 'knex';
import { executable } from './internals.ts';
import type { CompiledStatement } from './internals.ts';

/** `SQLItemType` of `@databases/sql`, which exports it as a type only. */
const RAW = 0;
const VALUE = 1;

/**
 * Makes a raw builder of a `sql` template, for the transaction, routing and events of `db`.
 *
 * Values travel as bindings, whatever they are: Knex's raw would embed an object that looks like
 * one of its builders, and take a `?` in the text for a placeholder.
 */
export function rawFromTemplate(db: Knex, query: SQLQuery): Knex.Raw {
  const { text, bindings } = compile(query);
  const raw = db.raw('');
  // What Knex shows and routes by; odd backslashes make it leave a question mark alone.
  const sql = text.replaceAll('?', String.raw`\?`);
  const toSQL = (): CompiledStatement => ({ method: 'raw', sql, bindings, options: { text } });
  Object.assign(executable(raw), { toSQL });
  return raw;
}

function compile(query: SQLQuery): { text: string; bindings: unknown[] } {
  const bindings: unknown[] = [];
  const text = query.format((items) =>
    items
      .map((item) => {
        if ((item.type as number) === RAW && 'text' in item) return item.text;
        if ((item.type as number) === VALUE && 'value' in item)
          return `$${bindings.push(item.value)}`;
        return 'names' in item ? item.names.map(quoteIdentifier).join('.') : '';
      })
      .join(''),
  );
  return { text, bindings };
}

function quoteIdentifier(name: unknown): string {
  return `"${String(name).replaceAll('"', '""')}"`;
}

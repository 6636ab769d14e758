import type { Change, Changed } from './known-state.ts';

/** A statement that changes settings, with its values apart. */
export interface SyncStatement {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

const texts = new Map<number, string>();

/**
 * Makes the statement that changes settings one after the other, and answers with what they were
 * and are.
 *
 * Nothing in it depends on the state that it is run in, but the right to change a setting.
 */
export function syncStatement(changes: readonly Change[]): SyncStatement {
  return {
    text: textFor(changes.length),
    values: changes.flatMap(({ name, value }) => [name, value]),
  };
}

/** Reads a row of the answer. */
export function readChanged([name, before, after, session]: readonly (string | null)[]): Changed {
  return {
    name: name ?? '',
    before: before ?? null,
    after: after ?? '',
    session: session ?? undefined,
  };
}

function textFor(count: number): string {
  const known = texts.get(count);
  if (known !== undefined) return known;

  const rows = Array.from(
    { length: count },
    (_, row) => `($${row * 2 + 1}::pg_catalog.text, $${row * 2 + 2}::pg_catalog.text)`,
  );
  const text =
    'select s.name, pg_catalog.current_setting(s.name, true) as before, ' +
    'pg_catalog.set_config(s.name, s.value, false) as after, ' +
    'pg_catalog.pg_backend_pid()::pg_catalog.text as session ' +
    `from (values ${rows.join(', ')}) as s(name, value)`;
  texts.set(count, text);
  return text;
}

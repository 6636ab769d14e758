/** What a statement is to the shop. */
export type StatementKind = (typeof statementKinds)[number];

/** Every kind, in the order of the table. */
export const statementKinds = [
  'reads',
  'in read-only transactions',
  'in transactions',
  'writes',
  'traps',
  'reads by hand on the primary',
  'look-ups of the library',
  'probes of the library',
  'unknown',
] as const;

/** The kind of a statement that is in no transaction. */
export function kindOf(sql: string): StatementKind {
  if (sql.includes('/* read */')) return 'reads';
  if (sql.includes('/* trap */')) return 'traps';
  if (sql.includes('/* read by hand on the primary */')) return 'reads by hand on the primary';
  if (/^(?:insert|update|delete)\b/.test(sql)) return 'writes';
  if (sql.includes('/* knex-rwsplit probe */')) return 'probes of the library';
  return isLookUp(sql) ? 'look-ups of the library' : 'unknown';
}

// In this order: what are these names, is a lock still held, which server is this, and Knex's own
// first question.
function isLookUp(sql: string): boolean {
  return /pg_catalog\.pg_proc|pg_locks where|pg_postmaster_start_time|^select version\(\)/.test(
    sql,
  );
}

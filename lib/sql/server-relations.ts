import type { QualifiedName } from './qualified-name.ts';

/** System views, beyond `pg_stat_*` and `pg_statio_*`, whose rows describe one server only. */
export const serverRelations: ReadonlySet<string> = new Set(
  `pg_aios pg_available_extension_versions pg_available_extensions pg_backend_memory_contexts
  pg_config pg_cursors pg_file_settings pg_hba_file_rules pg_ident_file_mappings pg_locks
  pg_prepared_statements pg_prepared_xacts pg_replication_origin_status pg_replication_slots
  pg_sequences pg_settings pg_shmem_allocations pg_shmem_allocations_numa`.split(/\s+/),
);

/** Tells whether a relation answers about the server that is asked, so that a replica answers wrongly. */
export function describesOneServer({ schema, name }: QualifiedName): boolean {
  // Extensions put views such as pg_stat_statements into a schema of the user's.
  if (/^pg_stat(?:io)?_/.test(name)) return true;
  return (schema === undefined || schema === 'pg_catalog') && serverRelations.has(name);
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Built-in functions that a replica refuses: a call is a proved write. */
export const refusedByReplicas: ReadonlySet<string> = words(`
  nextval setval pg_notify txid_current pg_current_xact_id
  pg_current_wal_lsn pg_current_wal_insert_lsn pg_current_wal_flush_lsn
  pg_walfile_name pg_walfile_name_offset pg_switch_wal pg_create_restore_point
  pg_logical_emit_message pg_replication_origin_create pg_replication_origin_drop
  pg_replication_origin_advance lo_creat lo_create lo_from_bytea lo_import lo_put
  lo_truncate lo_truncate64 lo_unlink lowrite brin_desummarize_range
  brin_summarize_new_values brin_summarize_range gin_clean_pending_list
  pg_import_system_collations pg_clear_attribute_stats pg_clear_relation_stats
  pg_restore_attribute_stats pg_restore_relation_stats
`);

/** Built-in functions that lock, or unlock, something in the session of one server. */
export const sessionLocks: ReadonlySet<string> = words(`
  pg_advisory_lock pg_advisory_lock_shared pg_try_advisory_lock pg_try_advisory_lock_shared
`);

/** The counterparts of {@link sessionLocks}, but for `pg_advisory_unlock_all`. */
export const sessionUnlocks: ReadonlySet<string> = words(`
  pg_advisory_unlock pg_advisory_unlock_shared
`);

/**
 * Built-in functions that act on, or tell of, the one server or session that runs them: a replica
 * would run most of them, and silently in the wrong place.
 */
export const boundToOneServer: ReadonlySet<string> = words(`
  currval lastval pg_sequence_last_value pg_get_sequence_data set_config current_setting
  pg_advisory_unlock_all pg_advisory_xact_lock pg_advisory_xact_lock_shared
  pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared
  pg_advisory_lock pg_advisory_lock_shared pg_try_advisory_lock pg_try_advisory_lock_shared
  pg_advisory_unlock pg_advisory_unlock_shared
  txid_current_if_assigned pg_current_xact_id_if_assigned txid_current_snapshot
  pg_current_snapshot txid_status pg_xact_status pg_export_snapshot
  pg_xact_commit_timestamp pg_xact_commit_timestamp_origin pg_last_committed_xact
  pg_get_multixact_members
  pg_backend_pid pg_listening_channels pg_notification_queue_usage inet_client_addr
  inet_client_port inet_server_addr inet_server_port pg_postmaster_start_time pg_conf_load_time
  pg_blocking_pids pg_safe_snapshot_blocking_pids pg_isolation_test_session_is_blocked
  pg_cursor pg_prepared_statement pg_prepared_xact pg_lock_status pg_show_all_settings
  pg_show_all_file_settings pg_hba_file_rules pg_ident_file_mappings pg_config
  pg_current_logfile pg_get_loaded_modules pg_get_backend_memory_contexts
  pg_get_shmem_allocations pg_get_shmem_allocations_numa pg_get_aios pg_numa_available
  pg_jit_available pg_available_extensions pg_available_extension_versions
  pg_extension_update_paths pg_collation_actual_version pg_database_collation_actual_version
  pg_cancel_backend pg_terminate_backend pg_reload_conf pg_rotate_logfile
  pg_log_backend_memory_contexts pg_log_standby_snapshot pg_promote
  pg_control_checkpoint pg_control_init pg_control_recovery pg_control_system
  pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_last_xact_replay_timestamp
  pg_is_wal_replay_paused pg_get_wal_replay_pause_state pg_wal_replay_pause
  pg_wal_replay_resume pg_get_wal_resource_managers pg_get_wal_summarizer_state
  pg_available_wal_summaries pg_wal_summary_contents
  pg_backup_start pg_backup_stop pg_start_backup pg_stop_backup
  pg_copy_logical_replication_slot pg_copy_physical_replication_slot
  pg_create_logical_replication_slot pg_create_physical_replication_slot
  pg_drop_replication_slot pg_get_replication_slots pg_replication_slot_advance
  pg_sync_replication_slots pg_logical_slot_get_binary_changes pg_logical_slot_get_changes
  pg_logical_slot_peek_binary_changes pg_logical_slot_peek_changes
  pg_replication_origin_progress pg_replication_origin_session_is_setup
  pg_replication_origin_session_progress pg_replication_origin_session_reset
  pg_replication_origin_session_setup pg_replication_origin_xact_reset
  pg_replication_origin_xact_setup pg_show_replication_origin_status
  lo_close lo_export lo_get lo_lseek lo_lseek64 lo_open lo_tell lo_tell64 loread
  query_to_xml query_to_xml_and_xmlschema query_to_xmlschema cursor_to_xml cursor_to_xmlschema
  table_to_xml table_to_xml_and_xmlschema schema_to_xml schema_to_xml_and_xmlschema
  database_to_xml database_to_xml_and_xmlschema
  ts_rewrite ts_stat
  pg_read_file pg_read_binary_file pg_stat_file pg_ls_archive_statusdir pg_ls_dir pg_ls_logdir
  pg_ls_logicalmapdir pg_ls_logicalsnapdir pg_ls_replslotdir pg_ls_summariesdir pg_ls_tmpdir
  pg_ls_waldir pg_event_trigger_ddl_commands pg_event_trigger_dropped_objects
  pg_event_trigger_table_rewrite_oid pg_event_trigger_table_rewrite_reason
  pg_extension_config_dump pg_nextoid pg_stop_making_pinned_objects currtid2 plpgsql_validator
  dblink dblink_connect dblink_connect_u dblink_disconnect dblink_exec dblink_open dblink_fetch
  dblink_close dblink_send_query dblink_get_result dblink_cancel_query
`);

/** Families of built-in functions about one server: statistics of it, or for pg_upgrade only. */
export const boundToOneServerPrefixes: readonly string[] = ['pg_stat_', 'binary_upgrade_'];

/** Built-in functions that are volatile, yet read the same on every server, or are random anyway. */
export const safeThoughVolatile: ReadonlySet<string> = words(`
  amvalidate array_sample array_shuffle clock_timestamp current_query gen_random_uuid
  pg_database_size pg_get_wait_events pg_indexes_size pg_is_in_recovery pg_partition_ancestors
  pg_partition_tree pg_relation_size pg_sleep pg_sleep_for pg_sleep_until pg_table_size
  pg_tablespace_size pg_total_relation_size random random_normal setseed timeofday uuidv4 uuidv7
`);

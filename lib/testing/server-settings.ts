import type { ClusterSettings } from './cluster-options.ts';

/** The PostgreSQL settings of every host of a launched cluster. */
export function serverSettings(
  { maxConnections, settings }: ClusterSettings,
  hasStatementStatistics: boolean,
): Record<string, string> {
  return {
    // The data is thrown away with the cluster.
    fsync: 'off',
    // No worker processes for I/O: three fewer per host.
    io_method: 'sync',
    shared_buffers: '64MB',
    timezone: 'UTC',
    track_commit_timestamp: 'off',
    wal_level: 'replica',
    max_wal_senders: '20',
    max_replication_slots: '20',
    hot_standby: 'on',
    // Instead of slots, for a replica that was away.
    wal_keep_size: '512MB',
    wal_retrieve_retry_interval: '100ms',
    ...(hasStatementStatistics ? { shared_preload_libraries: 'pg_stat_statements' } : {}),
    ...settings,
    listen_addresses: '127.0.0.1',
    max_connections: String(maxConnections),
    // A path in the cluster's folder could be longer than a socket's may be.
    unix_socket_directories: '',
  };
}

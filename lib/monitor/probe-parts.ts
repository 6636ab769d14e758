import { serverIdentityParts } from '../hosts/server-identity.ts';

const IN_RECOVERY = 'pg_catalog.pg_is_in_recovery()';
const WRITTEN = 'pg_catalog.pg_current_wal_lsn()';

function ofReplica(expression: string): string {
  return `case when ${IN_RECOVERY} then ${expression} end`;
}

/**
 * What a probe asks, part by part: each an expression of its own, which a server may lack or forbid.
 *
 * Every name is qualified and no operator used, so that a search path changes nothing.
 */
const expressions: Readonly<Record<ProbePart, string>> = {
  isInRecovery: IN_RECOVERY,
  processId: 'pg_catalog.pg_backend_pid()',
  isReadOnlyByDefault: "pg_catalog.current_setting('default_transaction_read_only')",
  systemId: '(select system_identifier from pg_catalog.pg_control_system())',
  // The first eight digits of the file's name; pg_control_checkpoint() lags behind a promotion.
  writtenTimeline: `case when not ${IN_RECOVERY} then pg_catalog.left(pg_catalog.pg_walfile_name(${WRITTEN}), 8) end`,
  // Null without the privileges of pg_monitor.
  receivedTimeline: '(select received_tli from pg_catalog.pg_stat_wal_receiver)',
  checkpointTimeline: '(select timeline_id from pg_catalog.pg_control_checkpoint())',
  position: `case when ${IN_RECOVERY} then pg_catalog.pg_last_wal_replay_lsn() else ${WRITTEN} end`,
  receivedPosition: ofReplica('pg_catalog.pg_last_wal_receive_lsn()'),
  replayedAt: ofReplica('extract(epoch from pg_catalog.pg_last_xact_replay_timestamp())'),
  askedAt: 'extract(epoch from pg_catalog.clock_timestamp())',
  isReplayPaused: ofReplica('pg_catalog.pg_is_wal_replay_paused()'),
  receivers: '(select pg_catalog.count(*) from pg_catalog.pg_stat_wal_receiver)',
  ...serverIdentityParts,
};

/** One thing that a probe asks. */
export type ProbePart =
  | 'isInRecovery'
  | 'processId'
  | 'isReadOnlyByDefault'
  | 'systemId'
  | 'writtenTimeline'
  | 'receivedTimeline'
  | 'checkpointTimeline'
  | 'position'
  | 'receivedPosition'
  | 'replayedAt'
  | 'askedAt'
  | 'isReplayPaused'
  | 'receivers'
  | keyof typeof serverIdentityParts;

/** The server's words on each part; one that is absent was null, or could not be asked. */
export type ProbeAnswers = Readonly<Partial<Record<ProbePart, string>>>;

// TypeScript takes the keys of any object for mere strings.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const all = Object.keys(expressions) as ProbePart[];

/** Everything that a probe would like to know. */
export const probeParts: readonly ProbePart[] = all;

/** The statement that asks some parts at once; without any, one that every server answers. */
export function probeStatement(parts: readonly ProbePart[]): string {
  const columns = parts.map((part) => `${expressions[part]} as "${part}"`);
  return `select ${columns.join(', ') || '1'}`;
}

/** Takes the answers out of a row, whatever a driver or an engine made of them. */
export function readAnswers(row: unknown): ProbeAnswers {
  if (typeof row !== 'object' || row === null) return {};

  const answers = Object.entries(row).filter(([, value]) =>
    ['string', 'number', 'bigint', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(answers.map(([part, value]) => [part, String(value)]));
}

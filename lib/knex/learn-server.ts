import { systemClock } from '../clock.ts';
import { readLsn } from '../consistency/questions.ts';
import type { Connection } from '../hosts/host.ts';
import type { Row } from '../hosts/run-query.ts';
import { runQuery } from '../hosts/run-query.ts';
import { serverFacts } from '../hosts/server-facts.ts';
import type { ServerFacts } from '../hosts/server-facts.ts';
import { serverIdentity, serverIdentityParts } from '../hosts/server-identity.ts';
import { sever } from '../hosts/sever.ts';
import { syncOf } from '../state/connection-sync.ts';

/** What to do when a server of the host says something of itself. */
export type OnServerFacts = (facts: ServerFacts) => void;

const IDENTITY = ['pg_catalog.pg_is_in_recovery() as "isInRecovery"']
  .concat(Object.entries(serverIdentityParts).map(([name, part]) => `${part} as "${name}"`))
  .join(', ');

const STATE = ['role', 'search_path'] as const;

// An engine, or the rights of a user, may lack the one and have the other.
const PARTS = [
  IDENTITY,
  'pg_catalog.pg_backend_pid() as "processId"',
  // What the application's `afterCreate` made of it, too.
  STATE.map((name) => `pg_catalog.current_setting('${name}', true) as "${name}"`).join(', '),
  'pg_catalog.pg_last_wal_replay_lsn()::text as "replayed"',
];

// pg's own time for a connection ends before this question: its answer can get lost, too.
const LEARN_MILLIS = 3000;

/** Asks the server of a new connection who it is, within a time of its own. */
export async function learnInTime(connection: Connection, onFacts: OnServerFacts): Promise<void> {
  const late = (): Error =>
    Object.assign(new Error(`The server said nothing within ${LEARN_MILLIS} ms.`), {
      code: 'ETIMEDOUT',
    });
  const stopWaiting = systemClock.after(LEARN_MILLIS, () => sever(connection, late));
  try {
    await learnServer(connection, onFacts);
  } finally {
    stopWaiting();
  }
}

// `in_hot_standby` is reported from PostgreSQL 14 on; who the server is, no parameter tells.
async function learnServer(connection: Connection, onFacts: OnServerFacts): Promise<void> {
  const facts = serverFacts(connection);
  if (facts === undefined) return;

  const answer = (await ask(connection, PARTS)) ?? (await askEach(connection));
  facts.isPooled = isPooled(connection, answer['processId']);
  facts.replayed = readLsn({ lsn: textOf(answer['replayed']) });
  facts.server = serverIdentity(answer);
  const { isInRecovery } = answer;
  // An engine without that function has nothing of it to tell; the configured role stands.
  if (isInRecovery !== undefined) facts.role ??= isInRecovery === true ? 'replica' : 'primary';
  syncOf(connection)?.known.began(
    STATE.flatMap((name) => {
      const value = textOf(answer[name]);
      return value === null ? [] : [[name, value] as const];
    }),
  );
  onFacts(facts);
}

async function askEach(connection: Connection): Promise<Row> {
  let answer: Row = {};
  for (const part of PARTS) {
    // oxlint-disable-next-line no-await-in-loop -- one connection runs one statement at a time.
    answer = { ...answer, ...(await ask(connection, [part])) };
  }
  return answer;
}

// Undefined where it can't be answered.
async function ask(connection: Connection, parts: readonly string[]): Promise<Row | undefined> {
  try {
    const [answer = {}] = await runQuery(connection, { text: `select ${parts.join(', ')}` });
    return answer;
  } catch (error) {
    if (serverFacts(connection)?.isEnded === true) throw error;
    return undefined;
  }
}

// A pooler can't give its client the process id of a server that it has yet to choose. Engines without
// processes have none, or 0.
function isPooled(connection: Connection, processId: unknown): boolean | undefined {
  const { processID: given }: { processID?: unknown } = connection;
  const own = Number(processId);
  if (typeof given !== 'number' || given === 0 || !(own > 0)) return undefined;
  return own !== given;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

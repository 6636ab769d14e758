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

const WHO_ARE_YOU = `select pg_catalog.pg_is_in_recovery() as "isInRecovery", pg_catalog.pg_backend_pid() as "processId", ${Object.entries(
  serverIdentityParts,
)
  .map(([name, expression]) => `${expression} as "${name}"`)
  .join(', ')}`;

const WHERE_ARE_YOU = 'pg_catalog.pg_last_wal_replay_lsn()::text as "replayed"';

// What the application's `afterCreate` made of it, too.
const STATE = ['role', 'search_path'] as const;
const WHAT_IS_YOUR_STATE = STATE.map(
  (name) => `pg_catalog.current_setting('${name}', true) as "${name}"`,
).join(', ');

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

  try {
    const answer = await askServer(connection);
    if (answer === undefined) return;
    facts.server = serverIdentity(answer);
    facts.isPooled = isPooled(connection, answer['processId']);
    facts.replayed = readLsn({ lsn: textOf(answer['replayed']) });
    facts.role ??= answer['isInRecovery'] === true ? 'replica' : 'primary';
    syncOf(connection)?.known.began(
      STATE.flatMap((name) => {
        const value = textOf(answer[name]);
        return value === null ? [] : [[name, value] as const];
      }),
    );
  } catch (error) {
    if (serverFacts(connection)?.isEnded === true) throw error;
    // An engine without these functions has nothing of it to tell; the configured role stands.
    return;
  }
  onFacts(facts);
}

// An engine may know who it is, and nothing of replay or state.
async function askServer(connection: Connection): Promise<Row | undefined> {
  try {
    const all = `${WHO_ARE_YOU}, ${WHERE_ARE_YOU}, ${WHAT_IS_YOUR_STATE}`;
    const [answer] = await runQuery(connection, { text: all });
    return answer;
  } catch (error) {
    if (serverFacts(connection)?.isEnded === true) throw error;
    const [answer] = await runQuery(connection, { text: WHO_ARE_YOU });
    return answer;
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

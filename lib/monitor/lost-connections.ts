import type { Clock } from '../clock.ts';
import type { HealthSettings } from '../config/settings.ts';
import { connectionState } from '../hosts/connection-state.ts';
import type { Connection, Host } from '../hosts/host.ts';
import { serverFacts } from '../hosts/server-facts.ts';
import { sever } from '../hosts/sever.ts';
import { SilentHostError } from './hang-watch.ts';
import type { Prober } from './shared-probe.ts';

/** A `pg` client, as far as it tells whether anything comes and goes. */
interface Flowing {
  readonly processID?: number | null;
  /** What runs; a stream's has a cursor, with a callback while it waits for rows. */
  readonly _activeQuery?: { readonly cursor?: { readonly _cb?: unknown } } | null;
  readonly connection?: {
    readonly stream?: {
      readonly bytesRead?: number;
      readonly bytesWritten?: number;
      readonly readableFlowing?: boolean | null;
    };
  };
}

/** A connection that waits for an answer, and since when nothing has come or gone. */
interface Stillness {
  readonly since: number;
  readonly bytes: string;
  /** Whether the server has said already that it has nothing to do for it. */
  readonly isIdleThere: boolean;
}

interface Activity {
  readonly pid: number;
}

// What the server is at work on. What isn't there, or waits for us even inside a transaction, has its
// answer lost on the way; so has what cannot get rid of it, and a cursor that we have asked for rows.
const BUSY = `select pid from pg_catalog.pg_stat_activity
  where pid = any($1::int[]) and (state like 'idle%') is not true and (wait_event = 'ClientWrite') is not true
    and not (pid = any($2::int[]) and (wait_event = 'ClientRead') is true)`;

/**
 * Finds connections of a host that answers, whose own packets get lost: a firewall forgot them, or
 * a proxy swallows them.
 *
 * Only the server can tell such a one from a statement that takes long: it has nothing to do there.
 */
export class LostConnections {
  readonly #host: Host;
  readonly #probe: Pick<Prober, 'ask'>;
  readonly #settings: HealthSettings;
  readonly #clock: Clock;
  #still: Map<Connection, Stillness> = new Map();
  #isAsking = false;

  constructor(host: Host, probe: Pick<Prober, 'ask'>, settings: HealthSettings, clock: Clock) {
    this.#host = host;
    this.#probe = probe;
    this.#settings = settings;
    this.#clock = clock;
  }

  /**
   * Looks at what runs, and asks the server about what has been still for too long.
   *
   * @param hasTrueProcessIds false behind a pooler, where nothing can be asked by process id.
   */
  look(hasTrueProcessIds: boolean): void {
    const now = this.#clock.now();
    const still = new Map<Connection, Stillness>();
    for (const connection of this.#host.pool.inUse) {
      if (connectionState(connection) !== 'busy' || pidOf(connection) === undefined) continue;
      if (isUnread(connection) || serverFacts(connection)?.isPooled === true) continue;

      const bytes = flow(connection);
      const before = this.#still.get(connection);
      const isSame = before?.bytes === bytes;
      still.set(connection, isSame ? before : { since: now, bytes, isIdleThere: false });
    }
    this.#still = still;

    const { hangMillis } = this.#settings;
    const suspects = [...still].filter(([, { since }]) => now - since >= hangMillis);
    if (suspects.length === 0 || !hasTrueProcessIds || this.#isAsking) return;

    this.#isAsking = true;
    void this.#ask(suspects.map(([connection]) => connection)).finally(() => {
      this.#isAsking = false;
    });
  }

  async #ask(suspects: readonly Connection[]): Promise<void> {
    const pids = suspects.map((connection) => pidOf(connection));
    const fetching = suspects.filter(isFetching).map((connection) => pidOf(connection));
    const { timeoutMillis } = this.#settings;
    const rows = await this.#probe.ask<Activity>(BUSY, [pids, fetching], timeoutMillis);
    if (rows === undefined) return;

    const busy = new Set<number | undefined>(rows.map(({ pid }) => pid));
    for (const connection of suspects) {
      const stillness = this.#still.get(connection);
      if (stillness === undefined || busy.has(pidOf(connection))) continue;
      // The answer may be on its way at this very moment: it has until the next probe.
      if (stillness.isIdleThere && stillness.bytes === flow(connection))
        this.#giveUp(connection, stillness);
      else this.#still.set(connection, { ...stillness, isIdleThere: true });
    }
  }

  #giveUp(connection: Connection, { since }: Stillness): void {
    this.#still.delete(connection);
    const silent = this.#clock.now() - since;
    sever(connection, () => new SilentHostError(this.#host.name, silent));
  }
}

function pidOf(connection: Connection): number | undefined {
  return (connection as Flowing).processID ?? undefined;
}

// Whoever reads a stream slowly lets its server wait, and is waited for.
function isFetching(connection: Connection): boolean {
  // oxlint-disable-next-line no-underscore-dangle -- pg's name; the one without it warns.
  const { _activeQuery: running }: Flowing = connection;
  // oxlint-disable-next-line no-underscore-dangle -- pg-cursor's name.
  return typeof running?.cursor?._cb === 'function';
}

// Whoever takes a COPY slowly stops the socket, and the server waits.
function isUnread(connection: Connection): boolean {
  return (connection as Flowing).connection?.stream?.readableFlowing === false;
}

function flow(connection: Connection): string {
  const stream = (connection as Flowing).connection?.stream;
  return `${stream?.bytesRead}/${stream?.bytesWritten}`;
}

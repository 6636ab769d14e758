import type { Change, Changed } from './known-state.ts';
import { KnownState } from './known-state.ts';
import { Reports } from './reports.ts';
import type { WantedState } from './wanted-state.ts';

/** The session state of one connection: what is wanted by whoever uses it, and what is known. */
export class ConnectionSync {
  readonly reports: Reports = new Reports();
  readonly known: KnownState = new KnownState(this.reports);
  /** Undefined while nobody uses the connection, or no state was ever wanted of its client. */
  wanted: WantedState | undefined;
  /** Whether somebody has used the connection, and nobody does by now. */
  isGivenBack = false;
  /** Whether Knex is sending, after what it sends was read; else an application does by itself. */
  isOfKnex = false;
  /** Whether a change failed: nothing is to run on the connection any more. */
  isBroken = false;
  /** Whether code ran that may have left something in the session, such as temporary tables. */
  mayHaveLeftovers = false;
  /** Whether changes were answered by several sessions of the server, as a pooler hands them out. */
  hasMoved = false;
  #session: string | undefined;

  /** What has to change before the next statement. */
  get changes(): readonly Change[] {
    return this.wanted === undefined ? [] : this.known.differenceTo(this.wanted);
  }

  /** Notes what the server answered to a change. */
  note(changed: Changed): void {
    this.known.noteBefore(changed);
    const { session = this.#session } = changed;
    this.hasMoved ||= this.#session !== undefined && session !== this.#session;
    this.#session = session;
  }
}

const syncs = new WeakMap<object, ConnectionSync>();

/** Keeps what is known of the session of a connection. */
export function keepSync(connection: object, sync: ConnectionSync): void {
  syncs.set(connection, sync);
}

/** The session state of a connection; undefined where its driver can't keep any. */
export function syncOf(connection: object): ConnectionSync | undefined {
  return syncs.get(connection);
}

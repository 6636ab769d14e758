import { syncOf } from './connection-sync.ts';
import type { WantedState } from './wanted-state.ts';
import { nothingWanted } from './wanted-state.ts';

/** Says how much of a connection's session has to change; 0 where nothing has. */
export type ChangeCount = (connection: object) => number;

/** The session states of one client's connections. */
export class SessionStates {
  #usual: WantedState;
  /** Told when a state is wanted for the first time. */
  onUse: () => void = () => undefined;
  #isUsed: boolean;

  constructor(usual: WantedState = nothingWanted) {
    this.#usual = usual;
    this.#isUsed = usual.values.size > 0;
  }

  /** What is wanted wherever nothing else is. */
  get usual(): WantedState {
    return this.#usual;
  }

  set usual(usual: WantedState) {
    this.#usual = usual;
    if (usual.values.size > 0) this.use();
  }

  /** Whether a state was ever wanted: until then every session is as it began. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Notes that some statement wants a state. */
  use(): void {
    if (this.#isUsed) return;
    this.#isUsed = true;
    this.onUse();
  }

  /** What tells apart the idle connections for a statement; undefined where all are alike. */
  changeCount(wanted: WantedState = this.usual): ChangeCount | undefined {
    if (!this.#isUsed) return undefined;
    return (connection) => syncOf(connection)?.known.differenceTo(wanted).length ?? 0;
  }

  /** Has whatever is sent on a connection from here on run in a state. */
  want(connection: object, wanted: WantedState = this.usual): void {
    if (!this.#isUsed) return;
    const sync = syncOf(connection);
    if (sync === undefined) return;
    sync.wanted = wanted;
    sync.isGivenBack = false;
  }

  /** Sends what Knex sends, and everything knows of. */
  sendOfKnex<T>(connection: object, send: () => T): T {
    const sync = this.#isUsed ? syncOf(connection) : undefined;
    if (sync === undefined) return send();
    sync.isOfKnex = true;
    try {
      return send();
    } finally {
      sync.isOfKnex = false;
    }
  }

  /** Ends the use of a connection. */
  leave(connection: object): void {
    if (!this.#isUsed) return;
    const sync = syncOf(connection);
    if (sync === undefined) return;
    sync.wanted = undefined;
    sync.isGivenBack = true;
  }

  /** Lets a connection be used again on which a change was refused; what it was is sent anew. */
  mend(connection: object): void {
    const sync = syncOf(connection);
    if (sync !== undefined) sync.isBroken = false;
  }

  /** Whether code ran in a session that may have left something there, such as temporary tables. */
  mayHaveLeftovers(connection: object): boolean {
    return this.#isUsed && syncOf(connection)?.mayHaveLeftovers === true;
  }

  /** Notes that something of the kind may be there. */
  doubtLeftovers(connection: object): void {
    const sync = this.#isUsed ? syncOf(connection) : undefined;
    if (sync !== undefined) sync.mayHaveLeftovers = true;
  }

  /** Notes that a session has nothing of the kind. */
  hasNoLeftovers(connection: object): void {
    const sync = syncOf(connection);
    if (sync !== undefined) sync.mayHaveLeftovers = false;
  }

  /** Whether a change failed on a connection, or its session was changed in a way that can't be put right. */
  isLost(connection: object): boolean {
    const sync = this.#isUsed ? syncOf(connection) : undefined;
    return sync !== undefined && (sync.isBroken || sync.reports.isFatal);
  }
}

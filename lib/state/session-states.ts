import { syncOf } from './connection-sync.ts';
import type { WantedState } from './wanted-state.ts';
import { nothingWanted } from './wanted-state.ts';

/** Says how much of a connection's session has to change; 0 where nothing has. */
export type ChangeCount = (connection: object) => number;

/** The session states of one client's connections. */
export class SessionStates {
  /** What is wanted wherever nothing else is. */
  readonly usual: WantedState;
  /** Told when a state is wanted for the first time. */
  onUse: () => void = () => undefined;
  #isUsed: boolean;

  constructor(usual: WantedState = nothingWanted) {
    this.usual = usual;
    this.#isUsed = usual.values.size > 0;
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
  want(connection: object, wanted: WantedState = this.usual, isByHand = false): void {
    if (!this.#isUsed) return;
    const sync = syncOf(connection);
    if (sync === undefined) return;
    sync.wanted = wanted;
    sync.isByHand = isByHand;
  }

  /** Ends the use of a connection. */
  leave(connection: object): void {
    if (!this.#isUsed) return;
    const sync = syncOf(connection);
    if (sync !== undefined) sync.wanted = undefined;
  }

  /** Whether a session was changed in a way that can't be put right. */
  isLost(connection: object): boolean {
    return this.#isUsed && syncOf(connection)?.reports.isFatal === true;
  }
}

import type { Lsn } from './lsn.ts';
import type { Mark } from './mark.ts';

// Servers come and go behind names; those heard of least recently are forgotten.
const MAX_SERVERS = 256;

/** What a replica has replayed, as far as it was told. */
interface Position {
  readonly timeline: number;
  readonly lsn: Lsn;
}

/**
 * How far the replay of each server has come, by the server's own identity: a name can stand for
 * several.
 *
 * Replay only moves forward for as long as a connection lives. A server that loses a process to a
 * crash begins again at an earlier position, and with the same identity, but ends every connection:
 * whoever has opened a new one says where it is by {@link Positions.restart}.
 */
export class Positions {
  readonly #positions = new Map<string, Position>();

  /**
   * Notes what a server has replayed.
   *
   * @param timeline the one that it follows; undefined where that was not asked, or not told.
   */
  note(server: string | undefined, timeline: number | undefined, lsn: Lsn | undefined): void {
    if (server === undefined || lsn === undefined) return;
    const known = this.#positions.get(server);
    const told = timeline ?? known?.timeline;
    if (told === undefined) return;
    // An answer that comes late, or the one of a checkpoint, may tell of an earlier timeline.
    const follows = Math.max(told, known?.timeline ?? told);

    this.#positions.delete(server);
    const furthest = known === undefined || lsn > known.lsn ? lsn : known.lsn;
    this.#positions.set(server, { timeline: follows, lsn: furthest });
    if (this.#positions.size <= MAX_SERVERS) return;
    const [oldest] = this.#positions.keys();
    if (oldest !== undefined) this.#positions.delete(oldest);
  }

  /** Notes where a server is that may have begun its replay again. */
  restart(server: string | undefined, lsn: Lsn | undefined): void {
    if (server === undefined || lsn === undefined) return;
    const known = this.#positions.get(server);
    if (known !== undefined && lsn < known.lsn) this.#positions.set(server, { ...known, lsn });
  }

  /** The timeline that a server was last known to follow. */
  timelineOf(server: string): number | undefined {
    return this.#positions.get(server)?.timeline;
  }

  /** Whether a server is known to have replayed a mark, on the mark's own timeline. */
  hasReached(server: string, { timeline, lsn }: Mark): boolean {
    const position = this.#positions.get(server);
    return position?.timeline === timeline && position.lsn >= lsn;
  }
}

import type { Mark } from '../consistency/mark.ts';
import type { Host } from '../hosts/host.ts';

/** The host of a read lacks what the read needs: its answer must not be given out. */
export class BehindError extends Error {
  readonly host: Host;

  /** How far the host has come, if it is the primary. */
  readonly written: Mark | undefined;

  constructor(host: Host, written?: Mark) {
    super(`${host.name} lacks what the session of this read wrote or saw`);
    this.host = host;
    this.written = written;
  }
}

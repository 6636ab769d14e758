import type { ConsistencyMode } from '../config/consistency-options.ts';
import type { Mark } from './mark.ts';
import { isBefore, laterMark } from './mark.ts';
import type { TokenContent } from './token.ts';

/** How a {@link Session} reads. */
export interface SessionSettings {
  readonly mode: ConsistencyMode;
  /** How long a read may wait for a replica that is behind, in milliseconds. */
  readonly waitMillis: number;
  /** Whether a read never sees an older state than the one before it. */
  readonly monotonic: boolean;
  /** Whether a token that can't be right fails the read that finds out, or counts as none. */
  readonly isStrict: boolean;
}

/** What a session has written and seen, and so what its next reads have to see. */
export class Session {
  readonly settings: SessionSettings;
  readonly #outer: Session | undefined;
  #written: Mark | undefined;
  /** Undefined where reads are not monotonic. */
  #seen: Mark | undefined;
  #changedAt: number;
  #isUncertain = false;
  #isGiven = false;
  #doubts = 0;

  /**
   * @param now the moment on the clock.
   * @param outer the session around it: each sees what the other one writes.
   * @param after what a token tells of another session.
   */
  constructor(settings: SessionSettings, now: number, outer?: Session, after?: TokenContent) {
    this.settings = settings;
    this.#changedAt = now;
    this.#outer = outer;
    if (after === undefined) return;

    const { written, seen, isUncertain } = after;
    this.#written = written;
    if (settings.monotonic) this.#seen = seen;
    this.#isUncertain = isUncertain;
    this.#isGiven = true;
  }

  /** What a token says of it. */
  get content(): TokenContent {
    const outer = this.#outer?.content;
    return {
      written: later(this.#written, outer?.written),
      seen: later(this.#seen, outer?.seen),
      isUncertain: this.isUncertain,
    };
  }

  /** Whether it wrote, and the position isn't known. */
  get isUncertain(): boolean {
    return this.#isUncertain || this.#outer?.isUncertain === true;
  }

  /** Whether what it has to see was told by a token, and no server has confirmed it. */
  get isGiven(): boolean {
    return this.#isGiven || this.#outer?.isGiven === true;
  }

  /** How often its position was lost; see {@link Session.settle}. */
  get doubts(): number {
    return this.#doubts + (this.#outer?.doubts ?? 0);
  }

  /** When what it has to see changed last, on the clock. */
  get changedAt(): number {
    return Math.max(this.#changedAt, this.#outer?.changedAt ?? this.#changedAt);
  }

  /** What its reads have to see, of which `mode` says what counts. */
  floor(mode: ConsistencyMode): Mark | undefined {
    const own = mode === 'session' ? later(this.#written, this.#seen) : this.#seen;
    return later(own, this.#outer?.floor(mode));
  }

  /** Notes how far the primary had written when a write of the session had ended. */
  noteWritten(mark: Mark, now: number): void {
    this.#outer?.noteWritten(mark, now);
    const floor = this.floor('session');
    if (floor === undefined || !isBefore(mark, floor)) this.#isGiven = false;
    if (!isBeyond(mark, this.#written)) return;
    this.#written = mark;
    this.#changedAt = now;
  }

  /** Notes what a read of the session may have seen; counts only where reads are monotonic. */
  noteSeen(mark: Mark, now: number): void {
    this.#outer?.noteSeen(mark, now);
    this.#see(mark, now);
  }

  /** Notes a write of which the position isn't known, or may yet be told by a capture that began later. */
  doubt(): void {
    this.#outer?.doubt();
    this.#isUncertain = true;
    this.#doubts++;
  }

  /**
   * Notes how far the primary has written, which covers every write before it.
   *
   * @param doubts what {@link Session.doubts} was when the primary was asked.
   */
  settle(mark: Mark, doubts: number, now: number): void {
    const isCertain = doubts === this.doubts;
    this.noteWritten(mark, now);
    if (isCertain) this.#trust();
  }

  /** Notes that a server has what a token told of, or that it has come as far as `mark`. */
  confirm(mark: Mark | undefined): void {
    this.#outer?.confirm(mark);
    const floor = this.floor('session');
    if (mark !== undefined && floor !== undefined && isBefore(mark, floor)) return;
    this.#isGiven = false;
  }

  /** Goes on from `mark`: what a token told of was never written. */
  restart(mark: Mark, now: number): void {
    this.#outer?.restart(mark, now);
    this.#written = mark;
    if (this.#seen !== undefined) this.#seen = mark;
    this.#isGiven = false;
    // It may have written beyond `mark` since, which the token's position hid.
    this.#isUncertain = true;
    this.#doubts++;
    this.#changedAt = now;
  }

  #trust(): void {
    this.#isUncertain = false;
    if (this.#outer !== undefined) this.#outer.#trust();
  }

  #see(mark: Mark, now: number): void {
    if (!this.settings.monotonic || !isBeyond(mark, this.#seen)) return;
    this.#seen = mark;
    this.#changedAt = now;
  }
}

function later(one: Mark | undefined, other: Mark | undefined): Mark | undefined {
  return one === undefined ? other : laterMark(one, other);
}

function isBeyond(mark: Mark, known: Mark | undefined): boolean {
  return known === undefined || isBefore(known, mark);
}

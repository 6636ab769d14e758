import type { Clock } from '../clock.ts';
import type { HealthSettings } from '../config/settings.ts';
import type { Host } from '../hosts/host.ts';

/** The host did not answer for so long that what was sent to it is given up. */
export class SilentHostError extends Error {
  /** As Node calls a connection without an answer. */
  readonly code = 'ETIMEDOUT';

  constructor(host: string, silentMillis: number) {
    super(
      `${host} is unreachable: it answers nothing, and no probe, for ${Math.round(silentMillis)} ms.`,
    );
    this.name = new.target.name;
  }
}

/** Gives up what runs on a host that has answered no probe for too long. */
export class HangWatch {
  readonly #host: Host;
  readonly #settings: HealthSettings;
  readonly #clock: Clock;
  #cancel: (() => void) | undefined;

  constructor(host: Host, settings: HealthSettings, clock: Clock) {
    this.#host = host;
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Notes that a probe had no answer in its time. */
  noteSilence(): void {
    if (this.#cancel !== undefined) return;

    this.#wait(this.#settings.hangMillis, this.#clock.now());
  }

  /** Notes that the host answered, however late. */
  noteAnswer(): void {
    this.destroy();
  }

  #wait(millis: number, since: number): void {
    const { timeoutMillis } = this.#settings;
    const due = this.#clock.now() + millis;
    this.#cancel = this.#clock.after(millis, () => {
      const now = this.#clock.now();
      // The process itself was held up: what the host has answered meanwhile is yet to be read.
      if (now - due > timeoutMillis) return this.#wait(timeoutMillis, since);

      // A host that stays silent may be given further statements by hand: look again.
      this.#cancel = undefined;
      const silent = now - since + timeoutMillis;
      this.#host.abandonConnections(() => new SilentHostError(this.#host.name, silent));
    });
  }

  /** Ends the watch. */
  destroy(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}

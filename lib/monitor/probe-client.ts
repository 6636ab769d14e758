/** What the driver gives for one statement. */
export interface ProbeResult {
  readonly rows: readonly unknown[];
}

/** What the driver is asked. */
export interface ProbeQuery {
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
  readonly types?: { getTypeParser(): (text: unknown) => unknown } | undefined;
}

/** A socket, as far as ending it and letting the process end need it. */
interface ProbeSocket {
  /** How much has come from the server. */
  readonly bytesRead?: number | undefined;
  destroy(): unknown;
  /** Node's own: destroys once everything is written. */
  destroySoon?(): unknown;
  unref?(): unknown;
  on?(event: 'error', listener: () => void): unknown;
}

/** The members of a `pg` client that a probe uses. */
export interface ProbeClient {
  /** Several results where the text has several statements. */
  query(query: ProbeQuery): Promise<ProbeResult | readonly ProbeResult[]>;
  end(callback: () => void): unknown;
  on(event: 'error' | 'end', listener: (error?: unknown) => void): unknown;
  readonly processID: number | null;
  /** Absent on drivers that are not written in JavaScript. */
  readonly connection?: {
    /** Another one after the connection was upgraded to TLS. */
    readonly stream: ProbeSocket;
    on?(event: 'sslconnect', listener: () => void): unknown;
  };
}

/**
 * Opens the driver's connection for a probe.
 *
 * Hands the driver's client to `onClient` as soon as it is constructed, so that a dial that hangs
 * can be cut; what `onClient` throws ends the dial.
 */
export interface DialProbe {
  (onClient: (client: ProbeClient) => void): Promise<ProbeClient>;
  /** Asks the application for the settings to dial by, where a function gives them: not the host's time. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** How long that may take at most, in milliseconds, where queries wait for less than the usual bound. */
  readonly prepareMillis?: number | undefined;
  /** Whether it matters when the server has closed a connection: an idle one is not cut, then. */
  readonly isCounted?: boolean | undefined;
}

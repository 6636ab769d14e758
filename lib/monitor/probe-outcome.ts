import type { ServerReport } from '../hosts/server-report.ts';

/** What a probe found: a report, or why there is none. */
export type ProbeOutcome =
  | {
      readonly isGood: true;
      readonly report: ServerReport;
      readonly isNewConnection: boolean;
      /** When it began, where it was another one than was asked for. */
      readonly at?: number | undefined;
    }
  | {
      readonly isGood: false;
      readonly at?: number | undefined;
      readonly error: Error;
      readonly isTimeout: boolean;
      /** For how long its server was asked and sent not one byte; undefined where it spoke, or wasn't reached. */
      readonly silentMillis?: number | undefined;
      /** The function that gives the connection's settings failed: nothing was learnt of the host. */
      readonly isOfApplication: boolean;
    };

/** The outcome of a probe that had no answer, for a reason that is not the application's. */
export function failure(error: Error): Extract<ProbeOutcome, { isGood: false }> {
  return { isGood: false, error, isTimeout: false, isOfApplication: false };
}

import { parseLsn } from '../consistency/lsn.ts';
import type { Lsn } from '../consistency/lsn.ts';
import { serverIdentity } from '../hosts/server-identity.ts';
import type { ServerReport } from '../hosts/server-report.ts';
import type { ProbeAnswers } from './probe-parts.ts';

const HEX = 16;
const MAX_TIMELINE = 0xffff_ffff;

/** Makes a report of a server's answers; one that is not what PostgreSQL would say counts as none. */
export function readReport(answers: ProbeAnswers, processId: number | null): ServerReport {
  const isInRecovery = readFlag(answers.isInRecovery);
  const currentTimeline = isInRecovery
    ? readTimeline(answers.receivedTimeline, /^\d+$/, 10)
    : readTimeline(answers.writtenTimeline, /^[\da-f]{8}$/i, HEX);

  return {
    isInRecovery,
    isReadOnlyByDefault: readFlag(answers.isReadOnlyByDefault),
    systemId: readMatching(answers.systemId, /^-?\d+$/),
    timeline: currentTimeline ?? readTimeline(answers.checkpointTimeline, /^\d+$/, 10),
    isTimelineCurrent: currentTimeline !== undefined,
    position: readLsn(answers.position),
    receivedPosition: readLsn(answers.receivedPosition),
    replayAgeMillis: readAge(answers),
    isReplayPaused: readFlag(answers.isReplayPaused),
    isReceiving: isAboveZero(readMatching(answers.receivers, /^\d+$/)),
    server: serverIdentity(answers),
    hasTrueProcessIds: answers.processId === String(processId),
  };
}

function readMatching(text: string | undefined, pattern: RegExp): string | undefined {
  return text !== undefined && pattern.test(text) ? text : undefined;
}

function readFlag(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (/^(t|true|on)$/.test(text)) return true;
  return /^(f|false|off)$/.test(text) ? false : undefined;
}

function readTimeline(text: string | undefined, pattern: RegExp, base: number): number | undefined {
  const timeline = Number.parseInt(readMatching(text, pattern) ?? '', base);
  return timeline > 0 && timeline <= MAX_TIMELINE ? timeline : undefined;
}

function readLsn(text: string | undefined): Lsn | undefined {
  try {
    return text === undefined ? undefined : parseLsn(text);
  } catch {
    return undefined;
  }
}

// Both times are the replica's own but for the commit's, so a difference of clocks can be negative.
function readAge({ askedAt, replayedAt }: ProbeAnswers): number | undefined {
  if (askedAt === undefined || replayedAt === undefined) return undefined;

  const seconds = Number(askedAt) - Number(replayedAt);
  return Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : undefined;
}

function isAboveZero(count: string | undefined): boolean | undefined {
  return count === undefined ? undefined : Number(count) > 0;
}

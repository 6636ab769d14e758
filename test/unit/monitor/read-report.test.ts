import { describe, expect, it } from '@jest/globals';
import type { ProbeAnswers } from '../../../lib/monitor/probe-parts.ts';
import { readReport } from '../../../lib/monitor/read-report.ts';

const server = {
  isReadOnlyByDefault: 'off',
  systemId: '7446744073709551615',
  checkpointTimeline: '2',
  askedAt: '1700000010.25',
  processId: '7',
  serverAddress: '10.0.0.1',
  serverPort: '5432',
  serverStart: '1700000000',
} satisfies ProbeAnswers;

const primary = {
  ...server,
  isInRecovery: 'f',
  writtenTimeline: '0000001F',
  position: '0/30E01B0',
  receivers: '0',
} satisfies ProbeAnswers;

const replica = {
  ...server,
  isInRecovery: 't',
  receivedTimeline: '31',
  position: '0/30E01B0',
  receivedPosition: '0/30E01B8',
  replayedAt: '1700000010',
  isReplayPaused: 'f',
  receivers: '1',
} satisfies ProbeAnswers;

describe('readReport', () => {
  it('reads the answers of a primary', () => {
    expect(readReport(primary, 7)).toEqual({
      isInRecovery: false,
      isReadOnlyByDefault: false,
      systemId: '7446744073709551615',
      timeline: 31,
      isTimelineCurrent: true,
      position: 51_249_584n,
      receivedPosition: undefined,
      replayAgeMillis: undefined,
      isReplayPaused: undefined,
      isReceiving: false,
      server: '10.0.0.1:5432 1700000000',
      hasTrueProcessIds: true,
    });
  });

  it('reads the answers of a replica', () => {
    expect(readReport(replica, 7)).toEqual({
      isInRecovery: true,
      isReadOnlyByDefault: false,
      systemId: '7446744073709551615',
      timeline: 31,
      isTimelineCurrent: true,
      position: 51_249_584n,
      receivedPosition: 51_249_592n,
      replayAgeMillis: 250,
      isReplayPaused: false,
      isReceiving: true,
      server: '10.0.0.1:5432 1700000000',
      hasTrueProcessIds: true,
    });
  });

  it.each([
    ['a replica', { ...replica, receivedTimeline: undefined }],
    ['a primary', { ...primary, writtenTimeline: undefined }],
  ])("has the checkpoint's timeline, which may be stale, where %s tells no other", (_, answers) => {
    const report = readReport(clean(answers), 7);

    expect(report).toMatchObject({ timeline: 2, isTimelineCurrent: false });
  });

  it('knows nothing where nothing was answered', () => {
    const { isTimelineCurrent, hasTrueProcessIds, ...told } = readReport({}, 7);

    expect([isTimelineCurrent, hasTrueProcessIds]).toEqual([false, false]);
    expect(Object.values(told).every((value) => value === undefined)).toBe(true);
  });

  it('counts an age below zero, of clocks that differ, for none', () => {
    expect(readReport({ ...replica, replayedAt: '1700000011' }, 7).replayAgeMillis).toBe(0);
  });

  it.each([
    ['another process id, of a pooler', 8],
    ['no process id', null],
  ])('does not trust process ids with %s', (_, processId) => {
    expect(readReport(primary, processId).hasTrueProcessIds).toBe(false);
  });

  it.each([
    ['isInRecovery', 'maybe', 'isInRecovery'],
    ['isReadOnlyByDefault', '', 'isReadOnlyByDefault'],
    ['systemId', 'none', 'systemId'],
    ['position', '123', 'position'],
    ['receivedPosition', 'x/y', 'receivedPosition'],
    ['replayedAt', 'yesterday', 'replayAgeMillis'],
    ['replayedAt', '-Infinity', 'replayAgeMillis'],
    ['isReplayPaused', 'paused', 'isReplayPaused'],
    ['receivers', '-1', 'isReceiving'],
  ] as const)('takes %s %j for no answer', (part, text, member) => {
    expect(readReport({ ...replica, [part]: text }, 7)[member]).toBeUndefined();
  });

  it.each(['0', '-1', '4294967296', 'x', ''])('takes the timeline %j for no answer', (text) => {
    const answers = { ...replica, receivedTimeline: text, checkpointTimeline: text };

    expect(readReport(answers, 7).timeline).toBeUndefined();
  });
});

function clean(answers: Readonly<Record<string, string | undefined>>): ProbeAnswers {
  return Object.fromEntries(Object.entries(answers).filter(([, text]) => text !== undefined));
}

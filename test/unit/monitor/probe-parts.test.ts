import { describe, expect, it } from '@jest/globals';
import { probeParts, probeStatement, readAnswers } from '../../../lib/monitor/probe-parts.ts';

describe('probeStatement', () => {
  it('asks some parts at once', () => {
    expect(probeStatement(['isInRecovery', 'processId'])).toBe(
      'select pg_catalog.pg_is_in_recovery() as "isInRecovery", pg_catalog.pg_backend_pid() as "processId"',
    );
  });

  it('asks what every server answers where there is no part left', () => {
    expect(probeStatement([])).toBe('select 1');
  });

  it('qualifies every function and view', () => {
    const bare = /(?<![.\w])(pg_(?!catalog\.)\w+|inet_\w+|(?:clock|current)_\w+|host|left|count)\b/;

    expect(probeStatement(probeParts)).not.toMatch(bare);
  });
});

describe('readAnswers', () => {
  it('takes plain values for texts, and drops the others', () => {
    const row = { isInRecovery: true, receivers: 1, systemId: 7n, position: '0/1', askedAt: null };

    expect(readAnswers({ ...row, serverStart: new Date(0), serverPort: ['5432'] })).toEqual({
      isInRecovery: 'true',
      receivers: '1',
      systemId: '7',
      position: '0/1',
    });
  });

  it.each([undefined, null, 'text', 1])('has none in %j', (row) => {
    expect(readAnswers(row)).toEqual({});
  });
});

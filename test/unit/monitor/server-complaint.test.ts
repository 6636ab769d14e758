import { describe, expect, it } from '@jest/globals';
import { serverComplaint } from '../../../lib/monitor/server-complaint.ts';
import { serverError } from '../../support/fake-probe-client.ts';

describe('serverComplaint', () => {
  it.each([
    ['42883', 'missing'],
    ['42501', 'missing'],
    ['42P01', 'missing'],
    ['42601', 'missing'],
    ['0A000', 'missing'],
    ['22023', 'missing'],
    ['XX000', 'missing'],
    ['57014', 'cancelled'],
    ['55000', 'passing'],
    ['40001', 'passing'],
    ['53200', 'passing'],
    ['58030', 'passing'],
  ])('takes %s for %s', (code, complaint) => {
    expect(serverComplaint(serverError(code))).toBe(complaint);
  });

  it.each([
    ['the end of the session', serverError('57P01', 'FATAL')],
    ['a lost connection', new Error('Connection terminated unexpectedly')],
    ['a time-out of the driver', new Error('Query read timeout')],
    ["one of Node's errors", Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })],
  ])('says nothing of %s', (_, error) => {
    expect(serverComplaint(error)).toBeUndefined();
  });
});

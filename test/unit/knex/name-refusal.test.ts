import { describe, expect, it } from '@jest/globals';
import { asNameRefusal, NameRefusal } from '../../../lib/knex/name-refusal.ts';
import { fakeNames } from '../../support/fake-naming-client.ts';
import { hostSettings, makeHost } from '../../support/hosts.ts';

describe('asNameRefusal', () => {
  const host = makeHost(hostSettings('replica-1'), 'replica');
  const refusalOf = (fields: object, isBound = false): unknown => {
    const { client, names } = fakeNames();
    names.send('a', 2, 0, 1, () => client.query('a'));
    if (isBound) client.connection.emit('bindComplete');
    return asNameRefusal(Object.assign(new Error('message'), fields), host, names);
  };

  it.each([
    ['0A000', undefined],
    ['22P02', undefined],
    ['42883', undefined],
    ['XX000', undefined],
    ['08P01', undefined],
    ['26000', 'missing'],
    ['42P05', 'another'],
  ])('is one for %s before the values are bound, and none behind', (code, loss) => {
    const error = { severity: 'ERROR', code };

    expect(refusalOf(error)).toMatchObject({ host, loss, cause: { code } });
    expect(refusalOf(error)).toBeInstanceOf(NameRefusal);
    expect(refusalOf(error, true)).not.toBeInstanceOf(NameRefusal);
  });

  it('is one where the driver has another text under the name', () => {
    const message =
      "Prepared statements must be unique - 'rw_1' was used for a different statement";

    expect(refusalOf({ message })).toBeInstanceOf(NameRefusal);
  });

  it.each([
    ['a time that is up', { severity: 'ERROR', code: '57014' }],
    ['a conflict with recovery', { severity: 'ERROR', code: '40001' }],
    ['a lock', { severity: 'ERROR', code: '55P03' }],
    ['the end of the session', { severity: 'FATAL', code: 'XX000' }],
    ['the network', { code: 'ECONNRESET' }],
    ['the driver', {}],
  ])('is none for %s', (_, fields) => {
    expect(refusalOf(fields)).not.toBeInstanceOf(NameRefusal);
  });
});

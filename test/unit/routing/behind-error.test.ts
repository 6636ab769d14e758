import { describe, expect, it } from '@jest/globals';
import { BehindError } from '../../../lib/routing/behind-error.ts';
import { hostOf, makeCluster } from '../../support/hosts.ts';

describe('BehindError', () => {
  it('names the host, and how far it has come if that is known', () => {
    const host = hostOf(makeCluster({ primary: {}, near: {} }), 'near');
    const written = { timeline: 1, lsn: 9n };

    expect(new BehindError(host)).toMatchObject({
      host,
      written: undefined,
      message: expect.stringMatching(/^near lacks/),
    });
    expect(new BehindError(host, written).written).toBe(written);
  });
});

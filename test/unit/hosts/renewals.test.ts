import { describe, expect, it } from '@jest/globals';
import { Renewals } from '../../../lib/hosts/renewals.ts';

describe('Renewals', () => {
  it('outdates the connections of the time before, and no later one', async () => {
    const renewals = new Renewals<object>();
    const [before, after] = [{}, {}];
    await renewals.open(async () => before);
    expect(renewals.isOutdated(before)).toBe(false);

    renewals.renew([before]);
    await renewals.open(async () => after);

    expect([before, after].map((one) => renewals.isOutdated(one))).toEqual([true, false]);
  });

  it('outdates a connection that was being opened', async () => {
    const renewals = new Renewals<object>();
    const opening = renewals.open(async () => ({}));

    renewals.renew([]);

    expect(renewals.isOutdated(await opening)).toBe(true);
  });

  it('lets a failure to open through', async () => {
    const refuse = (): Promise<never> => Promise.reject(new Error('refused'));

    await expect(new Renewals().open(refuse)).rejects.toThrow('refused');
  });
});

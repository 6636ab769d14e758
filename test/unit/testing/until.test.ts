import { describe, expect, it } from '@jest/globals';
import { until } from '../../../lib/testing/until.ts';

describe('until', () => {
  it('asks again until the fact holds', async () => {
    let asked = 0;

    await until('it was asked thrice', 1_000, () => ++asked === 3);

    expect(asked).toBe(3);
  });

  it('names the fact that does not come to hold', async () => {
    await expect(until('pigs fly', 0, () => false)).rejects.toThrow(
      'Waited 0 ms in vain until pigs fly.',
    );
  });

  it('passes on an error of the question', async () => {
    const failing = until('it is answered', 1_000, () =>
      Promise.reject(new Error('Nobody answers.')),
    );

    await expect(failing).rejects.toThrow('Nobody answers.');
  });
});

import { describe, expect, it } from '@jest/globals';
import { AverageLatency } from '../../../lib/hosts/average-latency.ts';

describe('AverageLatency', () => {
  it('follows what it is told, slowly, up and down', () => {
    const average = new AverageLatency();
    const averages = [100, 200, 20, 20].map((millis) => {
      average.note(millis, 50);
      return average.millis;
    });

    expect(averages.map(Math.round)).toEqual([100, 120, 100, 84]);
  });

  it.each([
    [0, 820],
    [4000, 820],
    [10_000, 550],
    [18_000, 190],
    [60_000, 100],
  ])('trusts an answer the more the older the last one is: after %d ms', (millis, expected) => {
    const average = new AverageLatency();
    average.note(1000, 7000);

    average.note(100, 7000 + millis);

    expect(Math.round(average.millis)).toBe(expected);
  });

  it('begins anew once it was told to forget', () => {
    const average = new AverageLatency();
    average.note(16_000, 0);

    average.forget();

    expect(average.millis).toBe(0);
    average.note(10, 1);
    expect(average.millis).toBe(10);
  });
});

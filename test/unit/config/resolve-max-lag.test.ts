import { describe, expect, it } from '@jest/globals';
import { OptionReader } from '../../../lib/config/option-reader.ts';
import { resolveMaxLag } from '../../../lib/config/resolve-max-lag.ts';

describe('resolveMaxLag', () => {
  it.each<[unknown, unknown]>([
    [undefined, { millis: 60_000, bytes: undefined }],
    [{ bytes: 5 }, { millis: undefined, bytes: 5 }],
    [{ millis: 5 }, { millis: 5, bytes: undefined }],
    [false, false],
  ])('limits by %p as %p', (maxLag, settings) => {
    expect(resolveMaxLag(new OptionReader({ maxLag }, 'rwSplit'))).toStrictEqual(settings);
  });

  it('takes "ms" for a misspelt "millis"', () => {
    expect(() => resolveMaxLag(new OptionReader({ maxLag: { ms: 1 } }, 'rwSplit'))).toThrow(
      'rwSplit.maxLag.ms is no option; the nearest known one is "millis".',
    );
  });
});

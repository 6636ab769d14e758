import { describe, expect, it } from '@jest/globals';
import { hasMoved } from '../../../lib/consistency/has-moved.ts';
import type { TokenContent } from '../../../lib/consistency/token.ts';

const early = { timeline: 1, lsn: 10n };
const late = { timeline: 1, lsn: 20n };
const promoted = { timeline: 2, lsn: 10n };

function content(more: Partial<TokenContent>): TokenContent {
  return { written: undefined, seen: undefined, isUncertain: false, ...more };
}

describe('hasMoved', () => {
  it.each<[string, TokenContent, TokenContent | undefined]>([
    ['it wrote', content({ written: early }), undefined],
    ['it wrote further', content({ written: late }), content({ written: early })],
    ['it wrote after a promotion', content({ written: promoted }), content({ written: early })],
    ['it lost its position', content({ isUncertain: true }), undefined],
    ['it found its position', content({ written: early }), content({ isUncertain: true })],
    ['it saw more', content({ seen: late }), content({ seen: early })],
    [
      'it went back, as nobody wrote so far',
      content({ written: early }),
      content({ written: late }),
    ],
  ])('holds where %s', (_, now, from) => {
    expect(hasMoved(now, from)).toBe(true);
  });

  it.each<[string, TokenContent, TokenContent | undefined]>([
    ['nothing happened', content({}), undefined],
    ['it only knows what it was told', content({ written: early }), content({ written: early })],
    [
      'its position is as unknown as before',
      content({ isUncertain: true }),
      content({ isUncertain: true }),
    ],
    [
      'it does not keep what was seen',
      content({ written: early }),
      content({ written: early, seen: late }),
    ],
  ])('fails where %s', (_, now, from) => {
    expect(hasMoved(now, from)).toBe(false);
  });
});

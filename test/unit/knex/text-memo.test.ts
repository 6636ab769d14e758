import { describe, expect, it } from '@jest/globals';
import { TextMemo } from '../../../lib/knex/text-memo.ts';

describe('TextMemo', () => {
  it('remembers what a text became', () => {
    const memo = new TextMemo<string>();

    expect(memo.keep('a = ?', 'a = $1')).toBe('a = $1');
    expect(memo.get('a = ?')).toBe('a = $1');
    expect(memo.get('b = ?')).toBeUndefined();
  });

  it('remembers no long text', () => {
    const memo = new TextMemo<string>();
    const long = `${'x'.repeat(1000)}?`;

    expect(memo.keep(long, 'numbered')).toBe('numbered');
    expect(memo.get(long)).toBeUndefined();
  });

  it('remembers a limited number of texts', () => {
    const memo = new TextMemo<string>();
    const texts = Array.from({ length: 2500 }, (_, number) => `${number} = ?`);

    for (const text of texts) memo.keep(text, text);

    const known = texts.filter((text) => memo.get(text) !== undefined);
    expect(known.length).toBeLessThanOrEqual(1000);
    expect(known).toContain(texts.at(-1));
  });
});

import { describe, expect, it } from '@jest/globals';
import { Positions } from '../../../lib/knex/positions.ts';

describe('Positions', () => {
  it('remembers what a text became', () => {
    const positions = new Positions();

    expect(positions.keep('a = ?', 'a = $1')).toBe('a = $1');
    expect(positions.get('a = ?')).toBe('a = $1');
    expect(positions.get('b = ?')).toBeUndefined();
  });

  it('remembers no long text', () => {
    const positions = new Positions();
    const long = `${'x'.repeat(1000)}?`;

    expect(positions.keep(long, 'numbered')).toBe('numbered');
    expect(positions.get(long)).toBeUndefined();
  });

  it('remembers a limited number of texts', () => {
    const positions = new Positions();
    const texts = Array.from({ length: 2500 }, (_, number) => `${number} = ?`);

    for (const text of texts) positions.keep(text, text);

    const known = texts.filter((text) => positions.get(text) !== undefined);
    expect(known.length).toBeLessThanOrEqual(1000);
    expect(known).toContain(texts.at(-1));
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { draw } from '../../bench/page/draw.ts';
import { tablesOf } from '../../bench/page/tables.ts';
import type { Results } from '../../bench/results/section.ts';
import { root } from '../support/source-file.ts';

/** The text of a file; undefined where the benchmark has not written it. */
function read(path: string): string | undefined {
  const whole = join(root, path);
  return existsSync(whole) ? readFileSync(whole, 'utf8') : undefined;
}

const results = JSON.parse(read('bench/results.json') ?? '{}') as Results;

/** Text without what Prettier does to the columns of a table. */
const unaligned = (text: string): string => text.replaceAll(/-{3,}/g, '---').replaceAll(/ +/g, ' ');

describe('docs/performance.md', () => {
  it('has the figures of bench/results.json', () => {
    expect(unaligned(read('docs/performance.md') ?? '')).toContain(
      unaligned(`<!-- figures -->\n\n${tablesOf(results)}`),
    );
  });

  it('shows a picture of them', () => {
    expect(read('docs/performance.svg')).toBe(results.queries && draw(results.queries));
  });
});

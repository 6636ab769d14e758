import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as prettier from 'prettier';
import type { Results } from '../results/section.ts';
import { draw } from './draw.ts';
import { tablesOf } from './tables.ts';

/** What stands around what the benchmark writes. */
const begin = '<!-- figures -->';
const end = '<!-- end of figures -->';

/** Writes the figures into the page that tells of them, and its picture beside it. */
export async function writePage(results: Results, folder: string): Promise<void> {
  const path = join(folder, 'performance.md');
  const page = existsSync(path) ? readFileSync(path, 'utf8') : `${begin}\n${end}\n`;
  const before = page.slice(0, page.indexOf(begin) + begin.length);
  const after = page.slice(page.indexOf(end));
  const text = [before, tablesOf(results), after].join('\n\n');
  const config = await prettier.resolveConfig(path);
  writeFileSync(path, await prettier.format(text, { ...config, parser: 'markdown' }));
  if (results.queries) writeFileSync(join(folder, 'performance.svg'), draw(results.queries));
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as prettier from 'prettier';
import type { Results } from './section.ts';

const fileName = 'results.json';

/** Replaces what the benches that ran measured last, and answers with what all measured last. */
export async function saveResults(sections: Results, folder: string): Promise<Results> {
  const path = join(folder, fileName);
  const before: Results = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  const config = await prettier.resolveConfig(path);
  const text = JSON.stringify({ ...before, ...sections }, rounded);
  writeFileSync(path, await prettier.format(text, { ...config, parser: 'json' }));
  // As saved: what is shown must come out the same when it is shown again.
  const saved: Results = JSON.parse(text);
  return saved;
}

/** Four digits tell all that there is to tell. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}

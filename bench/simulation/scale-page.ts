import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as prettier from 'prettier';
import { picturesOf } from './scale-pictures.ts';
import type { ScaleResults } from './scale-results.ts';
import { pickTable, replicaTable, scenarioTables } from './scale-tables.ts';

/** Writes the figures between their marks into the page that tells of them, and its pictures beside it. */
export async function writeScalePage(results: ScaleResults, folder: string): Promise<void> {
  const path = join(folder, 'scale.md');
  const { scenarios = [], picks = [], replicas = [] } = results;
  let page = existsSync(path) ? readFileSync(path, 'utf8') : emptyPage;
  page = withFigures(page, 'scenarios', scenarioTables(scenarios));
  page = withFigures(page, 'picks', pickTable(picks));
  page = withFigures(page, 'replicas', replicaTable(replicas));
  const config = await prettier.resolveConfig(path);
  writeFileSync(path, await prettier.format(page, { ...config, parser: 'markdown' }));

  for (const [name, picture] of Object.entries(picturesOf(results))) {
    writeFileSync(join(folder, name), picture);
  }
}

const marks = (name: string): readonly [begin: string, end: string] => [
  `<!-- ${name} -->`,
  `<!-- end of ${name} -->`,
];

const emptyPage = ['scenarios', 'picks', 'replicas'].flatMap(marks).join('\n');

function withFigures(page: string, name: string, text: string): string {
  const [begin, end] = marks(name);
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`The page has no place for ${name}.`);
  return [page.slice(0, from + begin.length), text, page.slice(to)].join('\n\n');
}

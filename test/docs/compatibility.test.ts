import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { root } from '../support/source-file.ts';

interface Versions {
  readonly node: string;
  readonly knex: string;
  readonly pg: string;
}

interface Result extends Versions {
  readonly passed: number;
  readonly known: number;
  readonly failed: number;
}

const path = join(root, 'docs/compatibility.md');
const page = readFileSync(path, 'utf8');

/** The rows of the table, as they were measured. */
const results: readonly Result[] = page
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, , knex]) => /^\d+\.\d+\.\d+$/.test(knex ?? ''))
  .map(([, node = '', knex = '', pg = '', passed, known, failed]) => ({
    node,
    knex,
    pg,
    passed: Number(passed),
    known: Number(known),
    failed: Number(failed),
  }));

// What writes the page is an ES module, which this process does not load.
const { combinations, written } = JSON.parse(
  execFileSync(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { combinations } from './scripts/matrix/combinations.mjs';
       import { compatibilityPage } from './scripts/matrix/page.mjs';
       const [, results, path] = process.argv;
       const written = await compatibilityPage(JSON.parse(results), path);
       console.log(JSON.stringify({ combinations, written }));`,
      JSON.stringify(results),
      path,
    ],
    { cwd: root, encoding: 'utf8' },
  ),
) as { combinations: readonly Versions[]; written: string };

describe('docs/compatibility.md', () => {
  it('is what the script writes', () => {
    expect(page).toBe(written);
  });

  it('has a row for all versions, with no failure', () => {
    expect(results.map(({ node, knex, pg, failed }) => ({ node, knex, pg, failed }))).toEqual(
      combinations.map(({ node, knex, pg }) => ({ node, knex, pg, failed: 0 })),
    );
  });

  it('has the versions that package.json allows at least, and is tested with', () => {
    const { peerDependencies, devDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string>>;
    const least = (range: string | undefined): string => range?.replace(/^[^\d]*/, '') ?? '';

    for (const name of ['knex', 'pg'] as const) {
      const tested = results.map((result) => result[name]);
      expect(tested).toContain(least(peerDependencies?.[name]));
      expect(tested).toContain(least(devDependencies?.[name]));
    }
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { picturesOf } from '../../bench/simulation/scale-pictures.ts';
import type { ScaleResults } from '../../bench/simulation/scale-results.ts';
import { pickTable, replicaTable, scenarioTables } from '../../bench/simulation/scale-tables.ts';
import { root } from '../support/source-file.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const results = JSON.parse(read('bench/simulation/results.json')) as ScaleResults;
const { scenarios = [], picks = [], replicas = [] } = results;

/** Text without what Prettier does to the columns of a table. */
const unaligned = (text: string): string => text.replaceAll(/-{3,}/g, '---').replaceAll(/ +/g, ' ');

describe('docs/scale.md', () => {
  it.each([
    ['simulation', scenarioTables(scenarios)],
    ['picks', pickTable(picks)],
    ['replicas', replicaTable(replicas)],
  ])('has the figures of the %s', (_, tables) => {
    expect(unaligned(read('docs/scale.md'))).toContain(unaligned(tables));
  });

  it.each(Object.entries(picturesOf(results)))('shows them in %s', (name, picture) => {
    expect(read(`docs/${name}`)).toBe(picture);
  });
});

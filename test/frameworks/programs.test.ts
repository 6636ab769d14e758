import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useDatabase } from '../support/database.ts';
import { exampleNames, runExample } from '../support/example.ts';
import { root } from '../support/source-file.ts';

const schema = readFileSync(join(root, 'examples/schema.sql'), 'utf8');

describe('An example on a framework', () => {
  const cluster = useDatabase();

  beforeEach(async () => {
    await cluster().primary.query(`drop schema public cascade; create schema public; ${schema}`);
    await cluster().waitForReplay();
  });

  it.each(exampleNames(true))('ends well and prints what its comments say: %s', async (name) => {
    const { exitCode, stderr, printed, claimed } = await runExample(name, cluster());

    expect({ exitCode, stderr, printed }).toEqual({ exitCode: 0, stderr: '', printed: claimed });
    expect(claimed).not.toEqual([]);
  });
});

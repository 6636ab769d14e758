import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useDatabase } from '../support/database.ts';
import { claimsOf, exampleNames, matchedWith, runExample } from '../support/example.ts';
import { root } from '../support/source-file.ts';

const schema = readFileSync(join(root, 'examples/schema.sql'), 'utf8');

describe('An example', () => {
  const cluster = useDatabase();

  beforeEach(async () => {
    await cluster().primary.query(`drop schema public cascade; create schema public; ${schema}`);
    await cluster().waitForReplay();
  });

  it.each(exampleNames())('ends well and prints what its comments say: %s', async (name) => {
    const { exitCode, stderr, printed, claimed } = await runExample(name, cluster());

    expect({ exitCode, stderr, printed }).toEqual({ exitCode: 0, stderr: '', printed: claimed });
    expect(claimed).not.toEqual([]);
  });
});

describe('the claims of an example', () => {
  const source =
    "await db('t').insert({}); // → primary\n// Not a claim.\nawait db('t'); // → replica-… \n";

  it('are the comments with an arrow', () => {
    expect(claimsOf(source)).toEqual(['primary', 'replica-…']);
  });

  it.each([
    ['hold for what is printed', 'primary\nreplica-2\n', true],
    ['fail for another line', 'primary\nprimary\n', false],
    ['fail in another order', 'replica-2\nprimary\n', false],
    ['fail for a line too few', 'primary\n', false],
    ['fail for a line too many', 'primary\nreplica-2\nreplica-1\n', false],
    ['fail for more than the claim says', 'primary 1\nreplica-2\n', false],
  ])('%s', (_, stdout, holds) => {
    const claims = claimsOf(source);

    expect(matchedWith(claims, stdout).join() === claims.join()).toBe(holds);
  });
});

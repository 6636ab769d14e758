import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useDatabase } from '../support/database.ts';
import { claimsOf, environmentOf } from '../support/example.ts';
import { inLong } from '../support/long.ts';
import { installPackedPackage } from '../support/packed-package.ts';
import { root } from '../support/source-file.ts';

const program = readFileSync(join(root, 'examples/readme.mts'), 'utf8');

/** The program as CommonJS has it: without `import`, and without `await` at its top. */
const common = `void (async () => {${program.replaceAll(/^import (.+) from ('.+');$/gm, 'const $1 = require($2);')}})();`;

describe.each(['links' as const, ...inLong('npm' as const)])('installed by %s,', (how) => {
  const consumer = installPackedPackage(how);
  afterAll(() => consumer.remove());

  const cluster = useDatabase();

  beforeEach(async () => {
    const schema = readFileSync(join(root, 'examples/schema.sql'), 'utf8');
    await cluster().primary.query(`drop schema public cascade; create schema public; ${schema}`);
    await cluster().waitForReplay();
  });

  it.each([
    ['CommonJS', 'readme.cjs', common],
    ['a module', 'readme.mjs', program],
  ])('the published package runs the program of the README as %s', (_, name, code) => {
    const { exitCode, output } = consumer.run(name, code, environmentOf(cluster()));

    expect({ exitCode, output }).toEqual({
      exitCode: 0,
      output: `${claimsOf(program).join('\n')}\n`,
    });
  });
});

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { useDatabase } from '../support/database.ts';
import { inLong } from '../support/long.ts';
import { installPackedPackage, type Run } from '../support/packed-package.ts';
import { root } from '../support/source-file.ts';

const consumer = installPackedPackage();
afterAll(() => consumer.remove());

const common = `
  const { knex } = require('knex');
  const { RWSplitClient, rwSplit } = require('knex-rwsplit');
  const db = knex({ client: RWSplitClient, connection: process.env.DATABASE_URL });
  (async () => {
    console.log((await rwSplit(db).explain(db.raw('select 1'))).reason);
    await db.destroy();
  })();
`;
const esModule = `
  import knex from 'knex';
  import { RWSplitClient, rwSplit } from 'knex-rwsplit';
  const db = knex({ client: RWSplitClient, connection: process.env.DATABASE_URL });
  console.log((await rwSplit(db).explain(db.raw('select 1'))).reason);
  await db.destroy();
`;
const both = ['knex', 'knex-rwsplit'];

/** Bundles in a process of its own, as the bundlers take Jest's modules for their own. */
function bundle(bundler: 'esbuild' | 'webpack', source: string, external: readonly string[]): Run {
  const isModule = source === esModule;
  const entry = join(consumer.folder, isModule ? 'entry.mjs' : 'entry.cjs');
  const name = `${bundler}-${external.length}.${isModule ? 'mjs' : 'cjs'}`;
  writeFileSync(entry, source);
  const build =
    bundler === 'esbuild'
      ? `tool.buildSync(${JSON.stringify({
          entryPoints: [entry],
          outfile: join(consumer.folder, name),
          bundle: true,
          platform: 'node',
          format: isModule ? 'esm' : 'cjs',
          external,
          logLevel: 'silent',
        })})`
      : `tool(${JSON.stringify({
          mode: 'development',
          devtool: false,
          target: 'node',
          context: consumer.folder,
          entry,
          output: { path: consumer.folder, filename: name },
          externals: Object.fromEntries(external.map((one) => [one, `commonjs ${one}`])),
        })}, (error, stats) => {
          if (error ?? stats.hasErrors()) throw error ?? new Error(stats.toString());
        })`;
  const tool = JSON.stringify(join(root, 'node_modules', bundler));
  execFileSync(process.execPath, ['--eval', `const tool = require(${tool}); ${build}`]);
  const run = isModule ? `import './${name}';` : `require('./${name}');`;
  return consumer.run(`run-${name}`, run, { DATABASE_URL: cluster().url });
}

const cluster = useDatabase();

describe('an application in a bundle', () => {
  it.each([
    ['esbuild', common],
    ['esbuild', esModule],
    ['webpack', common],
  ] as const)('runs when %s leaves knex and knex-rwsplit out of it', (bundler, source) => {
    expect(bundle(bundler, source, both)).toEqual({ exitCode: 0, output: 'only reads\n' });
  });

  it('runs when esbuild leaves out knex alone, as libpg-query is found at run time', () => {
    expect(bundle('esbuild', common, ['knex'])).toEqual({ exitCode: 0, output: 'only reads\n' });
  });

  it.each([
    // In the words of esbuild: nothing of this package has run by then.
    ['esbuild', esModule, 'Dynamic require of "knex" is not supported'] as const,
    ...inLong([
      'webpack',
      common,
      'ConfigError: The package libpg-query, which rwSplit needs to understand SQL, is not installed; run "npm install libpg-query". In a bundle, keep knex-rwsplit and knex out of it, as external packages.',
    ] as const),
  ])('fails at once when %s left out knex alone', (bundler, source, message) => {
    const { exitCode, output } = bundle(bundler, source, ['knex']);

    expect({ exitCode, output }).toEqual({ exitCode: 1, output: expect.stringContaining(message) });
  });
});

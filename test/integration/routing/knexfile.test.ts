import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDatabase } from '../../support/database.ts';
import { libraryPath } from '../../support/library-path.ts';

const run = promisify(execFile);
const root = path.resolve(__dirname, '../../..');

const migration = `
  exports.up = async (knex) => {
    await knex.schema.createTable('shops', (table) => table.text('name'));
    await knex('shops').insert({ name: 'Corner' });
    const [{ count }] = await knex('shops').count();
    if (count !== '1') throw new Error('A migration reads what it has not written.');
  };
  exports.down = (knex) => knex.schema.dropTable('shops');
`;
const seed = `exports.seed = (knex) => knex('shops').insert({ name: 'Seeded' });`;

describe('The command line of Knex', () => {
  const cluster = useDatabase();
  const library = libraryPath();
  let folder = '';

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'rwsplit-knexfile-'));
    for (const name of ['migrations', 'seeds']) await mkdir(path.join(folder, name));
    await writeFile(path.join(folder, 'migrations', '001_shops.js'), migration);
    await writeFile(path.join(folder, 'seeds', 'shops.js'), seed);
    await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
  });

  afterAll(() => rm(folder, { recursive: true }));

  const write = (config: object): Promise<void> =>
    writeFile(
      path.join(folder, 'knexfile.js'),
      `const { RWSplitClient } = require(${JSON.stringify(library)});
       module.exports = { client: RWSplitClient, ...${JSON.stringify(config)} };`,
    );
  const cli = async (command: string): Promise<string> => {
    const { stdout } = await run(
      process.execPath,
      [
        ...(library.endsWith('.ts') ? ['--require', 'tsx/cjs'] : []),
        'node_modules/knex/bin/cli.js',
        command,
        '--knexfile',
        'knexfile.js',
      ],
      { cwd: folder, timeout: 25_000 },
    );
    return stdout;
  };
  /** The command line with a knexfile in another language. */
  const cliOf = async (name: string, text: string, flags: string[]): Promise<string> => {
    await writeFile(path.join(folder, name), text);
    const loader = name.endsWith('.ts') ? ['--import', 'tsx'] : [];
    const { stdout } = await run(
      process.execPath,
      [...loader, 'node_modules/knex/bin/cli.js', 'migrate:status', '--knexfile', name, ...flags],
      { cwd: folder, timeout: 25_000 },
    );
    return stdout;
  };
  const ask = (text: string): Promise<object[]> => cluster().primary.query(text);

  it('migrates, lists, seeds and rolls back, whatever form the knexfile has', async () => {
    const { url } = cluster();
    const [connection, ...replicas] = hostsOf(url);

    await write({ connection: url });
    expect(await cli('migrate:latest')).toContain('Batch 1 run: 1 migrations');

    await write({ connection: { connectionString: `${url}?autoBalance=priority1` } });
    expect(await cli('migrate:list')).toContain('Found 1 Completed');
    expect(await cli('seed:run')).toContain('Ran 1 seed files');
    expect(await ask('select name from shops order by name')).toEqual([
      { name: 'Corner' },
      { name: 'Seeded' },
    ]);

    await write({ connection, rwSplit: { replicas } });
    expect(await cli('migrate:rollback')).toContain('Batch 1 rolled back: 1 migrations');
    expect(await ask('select from knex_migrations_lock')).toHaveLength(1);
  });

  it.each([
    ['an ES module', 'knexfile.mjs', []],
    ['an ES module by --esm', 'knexfile.js', ['--esm']],
    ['TypeScript', 'knexfile.ts', []],
  ])('takes a knexfile that is %s', async (_, name, flags) => {
    // The module loader of Knex knows no TypeScript.
    const built = path.join(root, 'dist/index.js');
    const { url } = cluster();
    const [connection] = hostsOf(url);
    const ours = `
      import { RWSplitClient } from ${JSON.stringify(built)};
      export default { client: RWSplitClient, connection: ${JSON.stringify(url)} };
    `;
    const plain = `export default { client: 'pg', connection: ${JSON.stringify(connection)} };`;
    const outcome = async (text: string): Promise<string> =>
      cliOf(name, text, flags).catch(() => 'is not taken');

    // On newer versions of Node, Knex's own --esm takes none.
    const expected = flags.length === 0 ? 'Found 1 Pending' : await outcome(plain);

    expect(await outcome(ours)).toContain(expected);
  });
});

function hostsOf(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = /^(.*@)(.*)(\/.*)$/.exec(url) ?? [];
  return hosts.split(',').map((host) => before + host + after);
}

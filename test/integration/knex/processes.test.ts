import { describe, expect, it } from '@jest/globals';
import { runProgram } from '../../support/child.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

const withoutParser = `
  const Module = require('node:module');
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (request, ...rest) {
    if (request === 'libpg-query') throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' });
    return resolve.call(this, request, ...rest);
  };
`;

describe('A process', () => {
  const cluster = useRoutingDatabase();

  const primary = (): string => JSON.stringify(cluster().connection());
  const url = (): string => JSON.stringify(cluster().url);

  const isParserLoaded = `Object.keys(require.cache).some((name) => name.includes('libpg-query'))`;

  it('loads the parser with the first query of an instance with rwSplit, and not before', async () => {
    const { exitCode, printed } = await runProgram(`
      const Client = library().RWSplitClient;
      const plain = knex({ client: Client, connection: ${primary()} });
      await plain('here');
      await plain.raw('select 1');
      await plain.transaction(async (trx) => trx('notes').insert({ rank: 1 }));
      await plain.destroy();
      const afterPlain = ${isParserLoaded};

      const db = knex({ client: Client, connection: ${url()} });
      const afterConstruction = ${isParserLoaded};
      await db.raw('select 1');
      await db.destroy();
      print({ afterPlain, afterConstruction, afterQuery: ${isParserLoaded} });
    `);

    expect({ exitCode, printed }).toEqual({
      exitCode: 0,
      printed: { afterPlain: false, afterConstruction: false, afterQuery: true },
    });
  });

  it('without the parser can use instances without rwSplit, and is told of any other at construction', async () => {
    const { exitCode, printed } = await runProgram(`
      ${withoutParser}
      const Client = library().RWSplitClient;
      const plain = knex({ client: Client, connection: ${primary()} });
      const hosts = await plain('here').pluck('host');
      await plain.destroy();
      try {
        knex({ client: Client, connection: ${primary()}, rwSplit: { replicas: [] } });
      } catch ({ name, code, message }) {
        print({ hosts, name, code, message });
      }
    `);

    expect({ exitCode, printed }).toEqual({
      exitCode: 0,
      printed: {
        hosts: ['primary'],
        name: 'ConfigError',
        code: 'RWSPLIT_CONFIG',
        message: expect.stringContaining('npm install libpg-query'),
      },
    });
  });

  it.each([
    ['nothing was done', ''],
    [
      'everything ended well',
      `await db('here');
      await db('notes').insert({ rank: 1 });
      await db.transaction(async (trx) => trx('here'));
      for await (const row of db('here').stream()) break;
      const { rwSplit } = library();
      await rwSplit(db).drain(rwSplit(db).hosts()[1].name);`,
    ],
    [
      'queries were given up, and locks and changed sessions are left',
      `await db.transaction(async (trx) => { await trx('here'); throw new Error(); }).catch(() => 0);
      await db.raw('select pg_sleep(9)').timeout(50, { cancel: true }).catch(() => 0);
      await db.raw('select pg_sleep(0.5)').timeout(50).catch(() => 0);
      await db.raw('listen news');
      await db.raw('select pg_advisory_lock(1)');`,
    ],
  ])('ends by itself after destroy() where %s', async (_, code) => {
    const { exitCode, stderr, printed } = await runProgram(`
      const db = knex({ client: library().RWSplitClient, connection: ${url()}, log: { warn() {} } });
      ${code}
      await db.destroy();
      print('destroyed');
    `);

    expect({ exitCode, stderr, printed }).toEqual({
      exitCode: 0,
      stderr: '',
      printed: 'destroyed',
    });
  });

  it.each([
    ['checkNow()', 'checkNow()', 3],
    ['explain()', "explain(db('notes').insert({ rank: 1 })).then(({ intent }) => intent)", 'write'],
  ])('lives until %s has its answer, and no longer', async (_, call, answer) => {
    const { exitCode, printed } = await runProgram(`
      const db = knex({ client: library().RWSplitClient, connection: ${url()} });
      print(await library().rwSplit(db).${call});
    `);

    expect({ exitCode, printed }).toEqual({ exitCode: 0, printed: answer });
  });

  it('ends by itself where it only makes an instance', async () => {
    const { exitCode } = await runProgram(
      `knex({ client: library().RWSplitClient, connection: ${url()} });`,
    );

    expect(exitCode).toBe(0);
  });
});

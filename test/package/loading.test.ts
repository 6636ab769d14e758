import { afterAll, describe, expect, it } from '@jest/globals';
import { installPackedPackage } from '../support/packed-package.ts';

const names = [
  'ConfigError',
  'NoHostAvailableError',
  'RWSplitClient',
  'RWSplitError',
  'ReadOnlyHostError',
  'SessionStateError',
  'createRWSplitClient',
  'onPrimary',
  'onReplica',
  'registerBalancer',
  'rwSplit',
];
const list = names.join(', ');
const print = `console.log([${list}].map((value) => typeof value).join());`;
const functions = names.map(() => 'function').join();

const consumer = installPackedPackage();
afterAll(() => consumer.remove());

describe('knex-rwsplit', () => {
  it.each([
    ['require', 'require.cjs', `const { ${list} } = require('knex-rwsplit'); ${print}`],
    ['named import', 'named.mjs', `import { ${list} } from 'knex-rwsplit'; ${print}`],
    [
      'import *',
      'all.mjs',
      `import * as all from 'knex-rwsplit'; const { ${list} } = all; ${print}`,
    ],
    ['import()', 'lazy.cjs', `import('knex-rwsplit').then(({ ${list} }) => { ${print} });`],
  ])('loads by %s', (_, name, code) => {
    expect(consumer.run(name, code)).toMatchObject({ exitCode: 0, output: `${functions}\n` });
  });

  it('is one module, however it is loaded', () => {
    const { output } = consumer.run(
      'same.mjs',
      `import { createRequire } from 'node:module';
       import { RWSplitClient, registerBalancer } from 'knex-rwsplit';
       const required = createRequire(import.meta.url)('knex-rwsplit');
       console.log(required.RWSplitClient === RWSplitClient, required.registerBalancer === registerBalancer);`,
    );

    expect(output).toBe('true true\n');
  });

  it.each([
    ['require', 'testing.cjs', `const { startCluster } = require('knex-rwsplit/testing');`],
    ['import', 'testing.mjs', `import { startCluster } from 'knex-rwsplit/testing';`],
  ])('offers its test cluster by %s', (_, name, code) => {
    expect(consumer.run(name, `${code} console.log(typeof startCluster);`).output).toBe(
      'function\n',
    );
  });

  it.each([
    ['opentelemetry', 'traceRoutes'],
    ['prometheus', 'registerMetrics'],
  ])('offers %s by require and import, one and the same', (path, name) => {
    const { output } = consumer.run(
      `${path}.mjs`,
      `import { createRequire } from 'node:module';
       import { ${name} } from 'knex-rwsplit/${path}';
       const required = createRequire(import.meta.url)('knex-rwsplit/${path}');
       console.log(typeof ${name}, required.${name} === ${name});`,
    );

    expect(output).toBe('function true\n');
  });

  it('makes a client that opens nothing and keeps no process alive', () => {
    const { exitCode, output } = consumer.run(
      'client.cjs',
      `const { knex } = require('knex');
       const { RWSplitClient } = require('knex-rwsplit');
       const db = knex({
         client: RWSplitClient,
         connection: { host: 'pg-1.invalid', user: 'app', password: 'secret', database: 'shop' },
         rwSplit: { replicas: [{ host: 'pg-2.invalid' }] },
       });
       console.log(db('users').select('id').toString());`,
    );

    expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'select "id" from "users"\n' });
  });

  it('keeps its inside to itself', () => {
    const { exitCode, output } = consumer.run(
      'inside.cjs',
      `require('knex-rwsplit/dist/errors.js');`,
    );

    expect(exitCode).toBe(1);
    expect(output).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});

import { afterAll, describe, expect, it } from '@jest/globals';
import { installPackedPackage } from '../support/packed-package.ts';

const consumer = installPackedPackage();
afterAll(() => consumer.remove());

/** An application that configures the client; `options` stand under the key `rwSplit`. */
function application(options: string): string {
  return `
    import { knex, type Knex } from 'knex';
    import { RWSplitClient, onPrimary, onReplica, registerBalancer, rwSplit } from 'knex-rwsplit';
    import { startCluster } from 'knex-rwsplit/testing';

    export const db: Knex = knex({
      client: RWSplitClient,
      connection: { host: 'pg-1', user: 'app', password: 'secret', database: 'shop' },
      rwSplit: ${options},
    });

    registerBalancer('always-first', () => ({ pick: (hosts) => hosts[0] }));
    export const handle = rwSplit(db);
    export const rows: PromiseLike<{ id: number }[]> = db<{ id: number }>('users').select('id').modify(onReplica);
    export const row = onPrimary(db.raw('select 1'));
    export const start: typeof startCluster = startCluster;
  `;
}

const correct = `{ replicas: [{ host: 'pg-2', weight: 2 }, 'postgres://pg-3/shop'], balancer: 'shuffle' }`;

// One run of the compiler for all files: each costs seconds.
const errors = consumer.check({
  'module.mts': application(correct),
  'common.cts': application(correct),
  'option.mts': application(`{ replica: [] }`),
  'value.mts': application(`{ fallback: 'replica' }`),
  'host.mts': application(`{ replicas: [{ host: 'pg-2', wieght: 2 }] }`),
});
const mistakes = ['option.mts', 'value.mts', 'host.mts'];

describe('declarations of the published package', () => {
  it('suit a strict application, as a module or CommonJS', () => {
    expect(errors.filter((error) => !mistakes.some((name) => error.startsWith(name)))).toEqual([]);
  });

  it.each([
    ['a misspelt option', 'option.mts', `'replica' does not exist in type 'RWSplitOptions'`],
    ['a misspelt value', 'value.mts', `Type '"replica"' is not assignable to type`],
    ['a misspelt setting of a host', 'host.mts', `'wieght'`],
  ])('refuse %s', (_, name, complaint) => {
    const found = errors.filter((error) => error.startsWith(name));

    expect(found).toEqual([expect.stringContaining(complaint)]);
  });
});

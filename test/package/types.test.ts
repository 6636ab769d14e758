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

describe('declarations of the published package', () => {
  it.each(['module.mts', 'common.cts'])('suit a strict application: %s', (name) => {
    expect(consumer.check(name, application(correct))).toMatchObject({ exitCode: 0, output: '' });
  });

  it.each([
    ['a misspelt option', `{ replica: [] }`, `'replica' does not exist in type 'RWSplitOptions'`],
    ['a misspelt value', `{ fallback: 'replica' }`, `Type '"replica"' is not assignable to type`],
    ['a misspelt setting of a host', `{ replicas: [{ host: 'pg-2', wieght: 2 }] }`, `'wieght'`],
  ])('refuse %s', (_, options, complaint) => {
    const { exitCode, output } = consumer.check('misspelt.mts', application(options));

    expect(exitCode).not.toBe(0);
    expect(output).toContain(complaint);
    expect(output.match(/error TS/g)).toHaveLength(1);
  });
});

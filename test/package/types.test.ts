import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { installPackedPackage } from '../support/packed-package.ts';
import { root } from '../support/source-file.ts';

const consumer = installPackedPackage();
afterAll(() => consumer.remove());

/** An application that configures the client; `options` stand under the key `rwSplit`. */
function application(options: string): string {
  return `
    import { knex, type Knex } from 'knex';
    import { RWSplitClient, onPrimary, onReplica, registerBalancer, rwSplit } from 'knex-rwsplit';
    import { markPgSpan, traceRoutes } from 'knex-rwsplit/opentelemetry';
    import { registerMetrics, type MetricsOptions } from 'knex-rwsplit/prometheus';
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
    export const marks = [traceRoutes(db), markPgSpan];
    const metrics: MetricsOptions = { prefix: 'shop_' };
    export const stop: () => void = registerMetrics(db, metrics);
    export const start: typeof startCluster = startCluster;
  `;
}

const correct = `{ replicas: [{ host: 'pg-2', weight: 2 }, 'postgres://pg-3/shop'], balancer: 'shuffle' }`;

const readme = readFileSync(join(root, 'examples/readme.mts'), 'utf8');

const sources = {
  'module.mts': application(correct),
  'common.cts': application(correct),
  'option.mts': application(`{ replica: [] }`),
  'value.mts': application(`{ fallback: 'replica' }`),
  'host.mts': application(`{ replicas: [{ host: 'pg-2', wieght: 2 }] }`),
  'readme.mts': readme,
};
const mistakes = ['option.mts', 'value.mts', 'host.mts'];

// One run of a compiler for all files: each costs seconds.
const compilers = [
  ['the newest TypeScript', consumer.check(sources)],
  ['TypeScript 5.4', consumer.checkWithOldest(sources)],
] as const;

describe.each(compilers)('declarations of the published package, for %s,', (_, errors) => {
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

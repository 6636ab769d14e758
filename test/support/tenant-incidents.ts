import { once } from 'node:events';
import type { Knex } from 'knex';

/** One way to leave a session otherwise than it was found, or to be kept from leaving it well. */
export type Incident = (tenant: Knex) => PromiseLike<unknown>;

const sleepText = 'select pg_sleep(0.5)';
const waitMillis = 150;

/**
 * What happens to tenants, how often of a hundred times, and what comes of it.
 *
 * What costs a connection is rarer than what doesn't: a new one takes as long as many queries.
 */
export const tenantIncidents: readonly (readonly [
  share: number,
  name: string,
  outcome: string,
  Incident,
])[] = [
  [25, 'error', '22012', (tenant) => tenant.raw('select 1/0')],
  [12, 'refused insert', '42703', (tenant) => tenant('whose').insert({ nothing: 1 })],
  [15, 'cancel by the server', '57014', (tenant) => tenant.raw('select app.cancel()')],
  [
    20,
    'failed transaction',
    '22012',
    (tenant) =>
      tenant.transaction(async (trx) => {
        await trx.raw("set local app.tenant = 'stranger'");
        await trx.raw('select 1/0');
      }),
  ],
  [
    3,
    'cancel',
    'KnexTimeoutError',
    // It begins once it has a connection.
    (tenant) => tenant.transaction((trx) => trx.raw(sleepText).timeout(5, { cancel: true })),
  ],
  [
    3,
    'cancel of a query',
    'KnexTimeoutError',
    (tenant) => tenant.raw(sleepText).timeout(waitMillis, { cancel: true }),
  ],
  [3, 'timeout', 'KnexTimeoutError', (tenant) => tenant.raw(sleepText).timeout(waitMillis)],
  [4, 'killed session', '57P01', (tenant) => tenant.raw('select app.end_session()')],
  [
    3,
    'SET rolled back',
    'rolled back',
    (tenant) =>
      tenant.transaction(async (trx) => {
        await trx.raw('set role none');
        await trx.raw("set app.tenant = 'stranger'");
        throw new Error('rolled back');
      }),
  ],
  [
    3,
    'set_config',
    'done',
    (tenant) => tenant.raw("select set_config('app.tenant', 'stranger', false)"),
  ],
  [3, 'RESET ALL', 'done', (tenant) => tenant.raw('reset all')],
  [3, 'SET ROLE', 'done', (tenant) => tenant.raw('set role none')],
  [
    3,
    'stream given up',
    'done',
    async (tenant) => {
      const stream = tenant.raw('select generate_series(1, 300)').stream();
      stream.on('error', () => undefined);
      await once(stream, 'data');
      stream.destroy();
    },
  ],
];

/** What came of an incident, in the words of {@link tenantIncidents}. */
export async function outcomeOf(run: PromiseLike<unknown>): Promise<string> {
  try {
    await run;
    return 'done';
  } catch (error) {
    const { code, name, message } = error as Error & { code?: string };
    return code ?? (name === 'Error' ? message : name);
  }
}

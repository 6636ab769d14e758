import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { requireAddresses } from '../../../lib/config/require-addresses.ts';
import { resolveConfig } from '../../../lib/config/resolve-config.ts';
import type { RWSplitOptions } from '../../../lib/config/options.ts';
import type { HostSettings } from '../../../lib/config/settings.ts';

const refusal = /^rwSplit\.maxPerServer counts the connections .* only a function knows/;

const resolve = (connection: unknown, rwSplit: RWSplitOptions): unknown =>
  resolveConfig({
    connection: connection as Knex.StaticConnectionConfig,
    rwSplit: { maxPerServer: 20, ...rwSplit },
  }).settings;

describe('requireAddresses', () => {
  it('takes hosts that are written', () => {
    const settings = resolve('postgres://pg-1/shop', { replicas: [{ host: 'pg-2' }] });

    expect(settings).toMatchObject({ primary: { name: 'pg-1:5432' }, maxPerServer: 20 });
  });

  it.each([
    ['a primary', () => 'postgres://pg-1/shop', []],
    ['a replica', 'postgres://pg-1/shop', [(): string => 'postgres://pg-2/shop']],
  ] as const)('refuses %s that only a function knows', (_, connection, replicas) => {
    expect(() => resolve(connection, { replicas })).toThrow(refusal);
    expect(() => resolve(connection, { replicas, maxPerServer: undefined })).not.toThrow();
  });

  it('refuses such a replica of a list when the list is told', async () => {
    const { primary } = resolve('postgres://pg-1/shop', {}) as { primary: HostSettings };
    const unknown = { ...primary, connection: async () => ({}) };

    const told = requireAddresses({ primary, replicas: async () => [unknown] }).replicas;

    await expect((told as () => Promise<unknown>)()).rejects.toThrow(refusal);
  });
});

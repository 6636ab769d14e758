import { describe, expect, it } from '@jest/globals';
import { mergeConnections } from '../../../lib/config/connection-object.ts';
import { environmentDefaults } from '../../../lib/config/host-key.ts';
import { readReplicaList } from '../../../lib/config/replica-list.ts';
import type { HostSettings } from '../../../lib/config/settings.ts';

const base = {
  primary: {
    name: 'h1:5432',
    key: 'h1:5432/app/app',
    connection: mergeConnections({ host: 'h1', user: 'app' }),
    weight: 1,
    tags: [],
    pool: {},
  },
  pool: undefined,
  defaults: environmentDefaults({}),
};

function discover(answer: unknown): Promise<readonly HostSettings[]> {
  const { replicas } = readReplicaList(() => Promise.resolve(answer), 'rwSplit.replicas', base);
  if (typeof replicas !== 'function') throw new Error('not a discovery');
  return replicas();
}

describe('readReplicaList', () => {
  it('reads a list at once', () => {
    const { replicas, written } = readReplicaList(['postgres://h2'], 'rwSplit.replicas', base);

    expect(replicas).toMatchObject([{ name: 'h2:5432' }]);
    expect(written).toEqual([{ host: 'h2' }]);
    expect(Object.isFrozen(replicas)).toBe(true);
  });

  it('asks a function later, and reads its answer in the same way', async () => {
    expect(await discover([{ host: 'h2' }, 'postgres://h3', () => 'postgres://h4'])).toMatchObject([
      { name: 'h2:5432' },
      { name: 'h3:5432' },
      { name: 'replica-3' },
    ]);
  });

  it('leaves the primary out of an answer: a directory lists it once it is a replica', async () => {
    expect(await discover([{ host: 'h1' }, { host: 'h2' }])).toMatchObject([{ name: 'h2:5432' }]);
  });

  it.each<[string, unknown]>([
    ['rwSplit.replicas()', undefined],
    ['rwSplit.replicas()', { host: 'h2' }],
    ['rwSplit.replicas()[1]', [{ host: 'h2' }, 'h3']],
    ['rwSplit.replicas()[0].weight', [{ host: 'h2', weight: -1 }]],
    ['rwSplit.replicas()[1]', [{ host: 'h2' }, { host: 'h2' }]],
  ])('refuses a bad %s in an answer: %p', async (path, answer) => {
    await expect(discover(answer)).rejects.toMatchObject({ name: 'ConfigError', path });
  });

  it.each([[undefined], [null], [{}], ['postgres://h2']])('takes no hosts from %p', (value) => {
    expect(() => readReplicaList(value, 'rwSplit.replicas', base)).toThrow('a list of hosts');
  });
});

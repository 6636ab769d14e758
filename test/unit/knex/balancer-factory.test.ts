import { describe, expect, it } from '@jest/globals';
import { knex } from 'knex';
import type { Balancer } from '../../../lib/index.ts';
import { ConfigError, RWSplitClient } from '../../../lib/index.ts';

describe('a balancer of the application', () => {
  it('is refused at construction when its factory makes none', () => {
    const balancer = (): Balancer => ({ choose: () => undefined }) as unknown as Balancer;

    const make = (): unknown =>
      knex({
        client: RWSplitClient,
        connection: {},
        rwSplit: { replicas: [{ host: 'pg-2' }], balancer },
      });

    expect(make).toThrow(ConfigError);
    expect(make).toThrow(/rwSplit\.balancer .* pick\(hosts\)/);
  });
});

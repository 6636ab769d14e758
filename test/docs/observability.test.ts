import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { knex } from 'knex';
import { Registry } from 'prom-client';
import { RWSplitClient } from '../../lib/index.ts';
import { registerMetrics } from '../../lib/prometheus/index.ts';
import { root } from '../support/source-file.ts';

const rows = readFileSync(join(root, 'docs/observability.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('docs/observability.md', () => {
  const db = knex({ client: RWSplitClient, connection: 'postgres://app@h1,h2/db' });
  const registry = new Registry();
  registerMetrics(db, { registry });
  const metrics = registry.getMetricsAsArray() as unknown as readonly {
    readonly name: string;
    readonly labelNames: readonly string[];
  }[];

  it.each(metrics.map(({ name, labelNames }) => [name, labelNames] as const))(
    'has a row for %s with its labels',
    (name, labels) => {
      const row = rows.find(([, cell]) => cell === `\`${name}\``);

      expect(row?.[3]).toBe(labels.map((label) => `\`${label}\``).join(', '));
    },
  );

  it('has no row for a metric that is none', () => {
    const documented = rows.flatMap(([, cell = '']) => /^`(rwsplit_\w+)`$/.exec(cell)?.[1] ?? []);

    expect(documented.toSorted()).toEqual(metrics.map(({ name }) => name).toSorted());
  });
});

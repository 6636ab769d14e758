import { describe, expect, it } from '@jest/globals';
import { Counter, Registry } from 'prom-client';
import { MetricsPlace } from '../../../lib/prometheus/metrics-place.ts';

function owned(registry: Registry): MetricsPlace {
  const place = new MetricsPlace(registry, 'shop_');
  const name = place.nameOf('reads_total');
  place.own('reads_total', new Counter({ name, help: 'Reads.', registers: [registry] }));
  return place;
}

describe('MetricsPlace', () => {
  it('takes its metrics out at the end', () => {
    const registry = new Registry();
    const place = owned(registry);
    expect(registry.getSingleMetric('shop_reads_total')).toBeDefined();

    place.end();

    expect(registry.getMetricsAsArray()).toEqual([]);
  });

  it('leaves a metric of another that has the name by then', () => {
    const registry = new Registry();
    const place = owned(registry);
    registry.clear();
    owned(registry);

    place.end();

    expect(registry.getSingleMetric('shop_reads_total')).toBeDefined();
  });

  it('ends once', () => {
    const place = new MetricsPlace(new Registry(), '');
    let ends = 0;
    place.atEnd(() => ends++);

    place.end();
    place.end();

    expect(ends).toBe(1);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { Counter, Registry } from 'prom-client';
import { onReplica, rwSplit, RWSplitClient } from '../../../lib/index.ts';
import { registerMetrics } from '../../../lib/prometheus/index.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';

/** The value of a metric, by its name and labels as Prometheus reads them. */
async function valueOf(registry: Registry, line: string): Promise<number | undefined> {
  const found = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}

describe('registerMetrics', () => {
  const cluster = useDatabase();
  const open: Knex[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((db) => db.destroy()));
  });

  function connect(): { db: Knex; registry: Registry; names: readonly string[] } {
    const db = knex({ client: RWSplitClient, connection: cluster().url });
    open.push(db);
    const names = rwSplit(db)
      .hosts()
      .map(({ name }) => name);
    return { db, registry: new Registry(), names };
  }

  it('tells the state, the pool and the counters of each host when it is asked', async () => {
    const { db, registry, names } = connect();
    registerMetrics(db, { registry });
    const [primary = '', ...replicas] = names;

    expect(await registry.metrics()).not.toMatch(/rwsplit_host_(up|serving)\{/);
    await rwSplit(db).checkNow();
    await db.raw('select txid_current()');

    const values = await Promise.all(
      [
        `host_up{host="${primary}",role="primary"}`,
        `host_serving{host="${primary}",role="primary"}`,
        ...replicas.map((name) => `host_up{host="${name}",role="replica"}`),
        `pool_connections{host="${primary}",role="primary",state="used"}`,
        `pool_connections_max{host="${primary}",role="primary"}`,
        `pool_pending_requests{host="${primary}",role="primary"}`,
        `statements_total{host="${primary}",intent="write"}`,
        `connect_errors_total{host="${primary}"}`,
        `session_reads_total{host="${primary}",how="stale"}`,
        `events_total{event="host:up",host="${primary}"}`,
      ].map((name) => valueOf(registry, `rwsplit_${name}`)),
    );
    expect(values).toEqual([1, 1, ...replicas.map(() => 1), 0, 10, 0, 1, 0, 0, 1]);
    expect(
      await valueOf(registry, `rwsplit_host_lag_seconds{host="${replicas[0]}",role="replica"}`),
    ).toEqual(expect.any(Number));
  });

  it('times queries by the host that ran them, and by whether they failed', async () => {
    const { db, registry, names } = connect();
    registerMetrics(db, { registry, durationBuckets: [0.1, 30] });
    const [primary = ''] = names;

    await db.raw('create table t (id int)');
    await db.transaction(async (trx) => trx('t').insert({ id: 1 }));
    await db.raw('select pg_sleep(0.2), txid_current()');
    await db('t')
      .insert({ missing: 1 })
      .catch(() => undefined);
    await onReplica(db.raw('select 1'));

    const of = async (what: string, outcome: string, more = ''): Promise<number | undefined> =>
      valueOf(
        registry,
        `rwsplit_query_duration_seconds_${what}{${more}host="${primary}",role="primary",outcome="${outcome}"}`,
      );
    expect(await of('count', 'ok')).toBe(3);
    expect(await of('bucket', 'ok', 'le="30",')).toBe(3);
    expect(await of('sum', 'ok')).toBeGreaterThan(0.2);
    expect(await of('sum', 'ok')).toBeLessThan(60);
    expect(await of('count', 'error')).toBe(1);
    const text = await registry.metrics();
    expect(text).toMatch(
      /rwsplit_query_duration_seconds_count\{host="[^"]+",role="replica",outcome="ok"\} 1/,
    );
  });

  it("names metrics as Prometheus' conventions say, and says what each is", async () => {
    const { db, registry } = connect();
    registerMetrics(db, { registry });

    const metrics = await registry.getMetricsAsJSON();

    for (const { name, help, type } of metrics) {
      expect(name).toMatch(/^rwsplit_[a-z]+(_[a-z]+)*$/);
      expect(name.endsWith('_total')).toBe(String(type) === 'counter');
      expect(name).not.toMatch(/milli|_ms|_kb/);
      expect(help).toMatch(/^[A-Z].*\.$/);
    }
    expect(metrics.map(({ name }) => name)).toEqual([...new Set(metrics.map(({ name }) => name))]);
  });

  it('tells of a host that is drained that it is up and does not serve', async () => {
    const { db, registry, names } = connect();
    registerMetrics(db, { registry });
    const [, replica = ''] = names;
    await rwSplit(db).checkNow();

    await rwSplit(db).drain(replica);

    const values = await Promise.all(
      ['up', 'serving'].map((name) =>
        valueOf(registry, `rwsplit_host_${name}{host="${replica}",role="replica"}`),
      ),
    );
    expect(values).toEqual([1, 0]);
  });

  it('adds up what the processes of a Node cluster tell, but for states and lag', async () => {
    const { db, registry } = connect();
    registerMetrics(db, { registry });

    const metrics = await registry.getMetricsAsJSON();

    const others = metrics.filter(({ aggregator }) => aggregator !== 'sum');
    expect(others.map(({ name, aggregator }) => [name, aggregator])).toEqual([
      ['rwsplit_host_up', 'min'],
      ['rwsplit_host_serving', 'min'],
      ['rwsplit_host_lag_seconds', 'max'],
      ['rwsplit_host_lag_bytes', 'max'],
    ]);
  });

  it('drops the series of a host that left', async () => {
    let name = 'pod-1';
    const { replicas } = cluster();
    const db = knex({
      client: RWSplitClient,
      connection: cluster().connection(),
      rwSplit: {
        replicas: async () => replicas.slice(0, 1).map(({ host, port }) => ({ name, host, port })),
        discovery: { intervalMillis: 100 },
      },
    });
    open.push(db);
    const registry = new Registry();
    registerMetrics(db, { registry });
    await eventually(async () => {
      await onReplica(db.raw('select 1'));
      const text = await registry.metrics();
      expect(text).toContain('rwsplit_events_total{event="host:up",host="pod-1"} 1');
      expect(text).toContain('rwsplit_query_duration_seconds_count{host="pod-1"');
    });

    name = 'pod-2';

    await eventually(async () => {
      await onReplica(db.raw('select 1'));
      const text = await registry.metrics();
      expect(text).toContain('rwsplit_query_duration_seconds_count{host="pod-2"');
      expect(text).not.toContain('"pod-1"');
    });
  });

  it('leaves nothing once it is ended, and can then be had again', async () => {
    const { db, registry } = connect();
    const emitters = [db.client, db];
    const listeners = (): number[] =>
      emitters.map((emitter: NodeJS.EventEmitter) =>
        ['query', 'query-response', 'query-error'].reduce(
          (sum, event) => sum + emitter.listenerCount(event),
          0,
        ),
      );
    const before = listeners();

    const stop = registerMetrics(db, { registry });
    expect(listeners()).not.toEqual(before);
    stop();

    expect(listeners()).toEqual(before);
    expect(registry.getMetricsAsArray()).toEqual([]);
    registerMetrics(db, { registry });

    // It ends what it began and nothing else, however often it is called.
    stop();
    expect(registry.getSingleMetric('rwsplit_host_up')).toBeDefined();
  });

  it('leaves nothing where a name is taken', async () => {
    const { db, registry } = connect();
    const name = 'rwsplit_query_duration_seconds';
    const taken = new Counter({ name, help: 'Not ours.', registers: [registry] });
    const before = db.client.listenerCount('query') as number;

    expect(() => registerMetrics(db, { registry })).toThrow(/already been registered/);

    expect(registry.getMetricsAsArray()).toEqual([taken]);
    expect(db.client.listenerCount('query')).toBe(before);
    registry.clear();
    registerMetrics(db, { registry });
  });

  it('shows no hosts of a Knex instance that was destroyed, and harms no other metrics', async () => {
    const { db, registry } = connect();
    registerMetrics(db, { registry });

    await db.destroy();

    expect(await registry.metrics()).not.toContain('rwsplit_host_up{');
  });

  it('gives each of several Knex instances its own names', async () => {
    const { db, registry } = connect();
    const other = connect();
    registerMetrics(db, { registry });

    expect(() => registerMetrics(other.db, { registry })).toThrow(/already been registered/);
    registerMetrics(other.db, { registry, prefix: 'reports_' });

    expect(await registry.metrics()).toContain('# TYPE reports_host_up gauge');
  });

  it('refuses a Knex instance that does not split', () => {
    const db = knex({ client: 'pg' });

    expect(() => registerMetrics(db, { registry: new Registry() })).toThrow(
      expect.objectContaining({ code: 'RWSPLIT_CONFIG' }),
    );
  });
});

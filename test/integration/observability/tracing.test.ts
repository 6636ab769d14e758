import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { runProgram } from '../../support/child.ts';
import { useDatabase } from '../../support/database.ts';
import { libraryPath } from '../../support/library-path.ts';
import { root } from '../../support/source-file.ts';

/** A span as the program prints it. */
interface PrintedSpan {
  readonly name: string;
  readonly isOfKnex: boolean;
  readonly port: number | undefined;
  readonly address: string;
  /** By the conventions of old. */
  readonly peer: string;
  readonly role: string | undefined;
  readonly reason: string | undefined;
  readonly host: string | undefined;
}

/** What a statement answered with, and the spans that ended meanwhile. */
interface Traced {
  readonly answer: unknown;
  readonly spans: readonly PrintedSpan[];
}

function instrumented(instrumentations: string): string {
  const load = (name: string): string =>
    `require(${JSON.stringify(join(root, 'node_modules/@opentelemetry', name))})`;
  return `
    const { trace } = ${load('api')};
    const { registerInstrumentations } = ${load('instrumentation')};
    const { KnexInstrumentation } = ${load('instrumentation-knex')};
    const { PgInstrumentation } = ${load('instrumentation-pg')};
    const sdk = ${load('sdk-trace-node')};
    const exporter = new sdk.InMemorySpanExporter();
    // As instrumentations before the stable conventions name a server, beside the names of today.
    const named = new sdk.SimpleSpanProcessor(exporter);
    const onStart = named.onStart.bind(named);
    named.onStart = (span, context) => {
      if ('knex.version' in span.attributes) {
        span.setAttributes({ 'net.peer.name': 'primary', 'net.peer.port': 1 });
      }
      onStart(span, context);
    };
    new sdk.NodeTracerProvider({ spanProcessors: [named] }).register();
    const marks = {};
    const requestHook = (...args) => marks.markPgSpan(...args);
    registerInstrumentations({ instrumentations: [${instrumentations}] });
  `;
}

async function traced(
  url: string,
  instrumentations: string,
): Promise<Readonly<Record<string, Traced>>> {
  const { printed, stderr, exitCode } = await runProgram(
    `
      const { RWSplitClient, onPrimary, onReplica } = library();
      Object.assign(marks, require(${JSON.stringify(libraryPath('opentelemetry/index'))}));
      const db = knex({ client: RWSplitClient, connection: ${JSON.stringify(url)} });
      const stop = marks.traceRoutes(db);
      const found = {};
      const show = ({ name, attributes }) => ({
        name: name.split(' ')[0],
        isOfKnex: 'knex.version' in attributes,
        port: attributes['server.port'],
        peer: attributes['net.peer.name'] + ':' + attributes['net.peer.port'],
        address: attributes['server.address'] + ':' + attributes['server.port'],
        host: attributes['rwsplit.host.name'],
        role: attributes['rwsplit.host.role'],
        reason: attributes['rwsplit.route.reason'],
      });
      const trace1 = async (title, run) => {
        exporter.reset();
        const answer = await trace.getTracer('test').startActiveSpan('request', async (span) => {
          try {
            return await run();
          } catch (error) {
            return error.code;
          } finally {
            span.end();
          }
        });
        found[title] = { answer, spans: exporter.getFinishedSpans().map(show) };
      };
      const port = "current_setting('port')::int as port";
      const portOf = ({ rows: [row] }) => row.port;

      await trace1('write', async () =>
        (await db('t').insert({}).returning(db.raw(port)))[0].port);
      await trace1('read', async () => portOf(await onReplica(db.raw('select ' + port + ' from t'))));
      await trace1('transaction', () => db.transaction(async (trx) =>
        portOf(await trx.raw('select ' + port))));
      await trace1('moved', () => db('nowhere'));
      await trace1('stream', async () => {
        const rows = [];
        for await (const row of onPrimary(db('t')).select(db.raw(port)).stream()) rows.push(row.port);
        return rows[0];
      });
      stop();
      await trace1('stopped', () => onReplica(db('t')).first());
      await db.destroy();
      print(found);
    `,
    undefined,
    instrumented(instrumentations),
  );
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return printed as Record<string, Traced>;
}

describe("OpenTelemetry's instrumentations", () => {
  const cluster = useDatabase();

  beforeAll(async () => {
    await cluster().primary.query('create table t (id serial)');
    await cluster().waitForReplay();
  });

  it('of Knex and of pg show which server ran a statement, its role, and why', async () => {
    const found = await traced(
      cluster().url,
      'new KnexInstrumentation(), new PgInstrumentation({ requestHook })',
    );
    const marked = (title: string): readonly PrintedSpan[] =>
      found[title]?.spans.filter(({ role }) => role !== undefined) ?? [];

    const primary = { role: 'primary', port: cluster().primary.port };
    expect(found['write']?.answer).toBe(primary.port);
    expect(marked('write')).toMatchObject([
      { ...primary, name: 'pg.query:INSERT', isOfKnex: false, reason: 'is an insert' },
      { ...primary, name: 'insert', isOfKnex: true, reason: 'is an insert' },
    ]);

    const replica = { role: 'replica', port: found['read']?.answer };
    const hint = expect.stringContaining('hint: replica');
    expect(cluster().replicas.map(({ port }) => port)).toContain(replica.port);
    expect(marked('read')).toMatchObject([
      { ...replica, name: 'pg.query:SELECT', isOfKnex: false, reason: hint },
      { ...replica, name: 'raw', isOfKnex: true, reason: hint },
    ]);

    expect(found['transaction']?.answer).toBe(primary.port);
    expect(marked('transaction')).toMatchObject([
      { ...primary, name: 'pg.query:SELECT', reason: 'a transaction' },
      { ...primary, name: 'raw', reason: 'a transaction' },
    ]);
    expect(
      found['transaction']?.spans.filter(({ name }) => name === 'pg.query:COMMIT'),
    ).toMatchObject([{ port: primary.port }]);

    // Whatever conventions the instrumentation follows, no span shows two servers.
    for (const title of ['write', 'read', 'transaction']) {
      const ofKnex = marked(title).filter(({ isOfKnex }) => isOfKnex);
      expect(ofKnex.map(({ peer }) => peer)).toEqual(ofKnex.map(({ address }) => address));
    }

    // A replica refuses it, if one was asked, and the primary answers that there is no such table.
    expect(found['moved']?.answer).toBe('42P01');
    expect(found['moved']?.spans.filter(({ isOfKnex }) => isOfKnex)).toMatchObject([primary]);

    expect(found['stream']?.answer).toBe(primary.port);
    expect(found['stopped']?.spans.filter(({ isOfKnex }) => isOfKnex)).toMatchObject([{}]);
    expect(marked('stopped')).toEqual([]);
  });

  it('of pg alone do so as well, and the span of the application stays its own', async () => {
    const found = await traced(cluster().url, 'new PgInstrumentation({ requestHook })');

    const spans = Object.values(found).flatMap((one) => one.spans);
    expect(spans.filter(({ name }) => name === 'request')).toHaveLength(Object.keys(found).length);
    expect(
      spans.filter(({ name, role, port }) => name === 'request' && (role ?? port) !== undefined),
    ).toEqual([]);
    expect(found['write']?.spans.filter(({ role }) => role !== undefined)).toMatchObject([
      { name: 'pg.query:INSERT', role: 'primary', port: found['write']?.answer },
    ]);
  });
});

import { SpanKind } from '@opentelemetry/api';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { KnexInstrumentation } from '@opentelemetry/instrumentation-knex';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { InMemorySpanExporter, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { markPgSpan, traceRoutes } from 'knex-rwsplit/opentelemetry';

const exporter = new InMemorySpanExporter(); // in production one that sends them somewhere
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
registerInstrumentations({
  instrumentations: [new KnexInstrumentation(), new PgInstrumentation({ requestHook: markPgSpan })],
});

// Only what is loaded from here on is instrumented.
const { default: knex } = await import('knex');
const { RWSplitClient } = await import('knex-rwsplit');

const { DATABASE_URL = '' } = process.env;
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });
traceRoutes(db);

await db('orders').insert({ item: 'tea' });
await db('orders').select('item');
await db.destroy();

for (const { name, kind, attributes } of exporter.getFinishedSpans()) {
  const { 'rwsplit.host.role': role, 'rwsplit.route.reason': reason } = attributes;
  if (kind === SpanKind.CLIENT && role !== undefined) console.log(name.split(' ')[0], role, reason);
}
// → pg.query:INSERT primary is an insert
// → insert primary is an insert
// → pg.query:SELECT … …
// → select … …

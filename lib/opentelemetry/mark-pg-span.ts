import type { Span } from '@opentelemetry/api';
import { tracedStatements } from './traced-statements.ts';

/** What the `requestHook` of `@opentelemetry/instrumentation-pg` is given, as far as it counts here. */
export interface PgRequest {
  readonly query: { readonly values?: readonly unknown[] | undefined };
  readonly connection: { readonly host?: string | undefined; readonly port?: number | undefined };
}

/**
 * The `requestHook` for OpenTelemetry's instrumentation of `pg`: marks the spans of statements of
 * traced Knex instances with the host, its role and the reason of the route.
 *
 * @example
 * new PgInstrumentation({ requestHook: markPgSpan });
 */
export function markPgSpan(span: Span, { query, connection }: PgRequest): void {
  const route = query.values && tracedStatements.get(query.values);
  if (route === undefined) return;

  // One that runs again elsewhere is not where its route led.
  const { host, port } = route.address ?? {};
  if (host === connection.host && port === connection.port) span.setAttributes(route.attributes);
}

/** What OpenTelemetry's own instrumentations of Knex and pg can't know of a client that splits. */
export { markPgSpan } from './mark-pg-span.ts';
export type { PgRequest } from './mark-pg-span.ts';
export { traceRoutes } from './trace-routes.ts';

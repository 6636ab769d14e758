import { trace } from '@opentelemetry/api';
import type { Span } from '@opentelemetry/api';
import type { Knex } from 'knex';
import { requireState } from '../knex/require-state.ts';
import type { LeaseDescription } from '../routing/lease.ts';
import { tracedRoute } from './route-attributes.ts';
import { tracedStatements } from './traced-statements.ts';

/** What Knex's events show of a statement. */
interface ShownStatement {
  readonly bindings?: readonly unknown[] | undefined;
  readonly rwSplit?: LeaseDescription | undefined;
}

/**
 * Lets the spans of `@opentelemetry/instrumentation-knex` show where each statement ran: the server's
 * `server.address` and `server.port`, which would be the primary's, and `rwsplit.host.name`,
 * `rwsplit.host.role` and `rwsplit.route.reason`. Those of `@opentelemetry/instrumentation-pg` show
 * the same with {@link markPgSpan} as their `requestHook`.
 *
 * @returns what ends it.
 * @throws {ConfigError} when the client of `db` doesn't split.
 */
export function traceRoutes(db: Knex): () => void {
  const state = requireState(db);

  function mark(statement: ShownStatement): void {
    const { rwSplit: on, bindings } = statement;
    if (on === undefined) return;

    const route = tracedRoute(state.split, on);
    if (Array.isArray(bindings)) tracedStatements.set(bindings, route);
    const span = trace.getActiveSpan();
    // Without Knex's instrumentation, or in a stream, the active span is the application's own.
    if (span === undefined || !tells(span, 'knex.version')) return;
    const { address, attributes } = route;
    span.setAttributes(attributes);
    if (address === undefined) return;
    span.setAttributes({ 'server.address': address.host, 'server.port': address.port });
    // An older instrumentation names the server so, by the conventions of its time.
    if (tells(span, 'net.peer.name')) {
      span.setAttributes({ 'net.peer.name': address.host, 'net.peer.port': address.port });
    }
  }

  // Where it ran at last is known only then; the span ends after that.
  const markAnswered = (_: unknown, statement: ShownStatement): void => mark(statement);
  db.on('query', mark);
  db.on('query-response', markAnswered);
  db.on('query-error', markAnswered);
  return () => {
    db.off('query', mark);
    db.off('query-response', markAnswered);
    db.off('query-error', markAnswered);
  };
}

function tells(span: Span, attribute: string): boolean {
  const { attributes }: { attributes?: object } = span as Span & { attributes?: object };
  return attributes !== undefined && attribute in attributes;
}

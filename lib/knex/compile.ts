import type { CompiledStatement, Runner, StreamRequest } from './internals.ts';
import { isList } from './request.ts';

/**
 * Compiles the builder of a runner, once, ahead of its connection.
 *
 * Knex emits `start` when it has a connection; here the text decides which, and a listener of `start`
 * may still change the builder. As in Knex, a stream has no `start`.
 *
 * @throws {Error} when several statements are to be streamed to a handler.
 */
export function compile(
  { client, builder }: Runner,
  request: StreamRequest | undefined,
): CompiledStatement | readonly CompiledStatement[] {
  if (request === undefined) {
    client.emit('start', builder);
    builder.emit('start', builder);
  }
  const compiled = builder.toSQL();
  if (request?.hasHandler === true && isList(compiled)) {
    throw new Error('The stream may only be used with a single query statement.');
  }
  if (request === undefined && builder._debug === true) client.logger.debug?.(compiled);
  return compiled;
}

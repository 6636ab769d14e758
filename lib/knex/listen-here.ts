import { AsyncResource } from 'async_hooks';
import type { StreamRequest } from './internals.ts';

/**
 * Has the listeners of a stream run in the scope of the caller, ours and the application's own.
 *
 * The driver tells of rows in the scope of their connection, which is nobody's.
 */
export function listenHere(stream: StreamRequest['stream']): void {
  stream.emit = AsyncResource.bind(stream.emit.bind(stream));
}

import type { EventEmitter } from 'events';
import type { ServerResponse } from 'http';
import type { Knex } from 'knex';
import onHeaders from 'on-headers';
import { hasMoved } from '../consistency/has-moved.ts';
import type { Session } from '../consistency/session.ts';
import { readToken, writeToken, type TokenCheck, type TokenContent } from '../consistency/token.ts';
import { InvalidTokenError } from '../errors.ts';
import type { SessionMiddlewareOptions } from './middleware-options.ts';
import { requireState } from './require-state.ts';
import { resolveMiddleware } from './resolve-middleware.ts';
import { contentOf, inSession, startSession, systemIdOf } from './session-scope.ts';
import type { SplitState } from './split-state.ts';
import type { HttpRequest, HttpResponse } from './token-carrier.ts';

/** A handler of requests, of HTTP/2, too, as Express, NestJS and Fastify's `onRequest` know it. */
export type SessionMiddleware = (
  request: HttpRequest,
  response: HttpResponse,
  next: () => void,
) => void;

/**
 * Makes the middleware that gives each request a session, and carries what it wrote to the client's
 * next request, in whichever process that is served.
 *
 * A write counts for the next request if it ended before the headers of the response were written.
 *
 * @throws {ConfigError} when an option is not allowed, no secret is given, or `db` doesn't split.
 */
export function sessionMiddleware(db: Knex, options: SessionMiddlewareOptions): SessionMiddleware {
  const state = requireState(db);
  const { carrier, secrets, maxAgeMillis, manners } = resolveMiddleware(options, state.settings);
  const sessions = new WeakMap<HttpRequest, Session>();

  return (request, response, next) => {
    const begun = sessions.get(request);
    if (begun !== undefined) {
      inSession(state, begun, next);
      return;
    }
    const check = { systemId: systemIdOf(state), secrets, maxAgeMillis, now: Date.now() };
    const brought = believed(carrier.take(request), check);
    const session = startSession(state, manners, brought);

    sessions.set(request, session);
    listenInSession(request, state, session);
    listenInSession(response, state, session);
    // Its types leave out the responses of HTTP/2, which have all that it uses.
    onHeaders(response as ServerResponse, () => {
      const content = contentOf(session);
      if (content === undefined || !hasMoved(content, brought)) return;
      const about = { systemId: systemIdOf(state), secret: secrets[0], now: Date.now() };
      carrier.give(response, writeToken(content, about));
    });
    inSession(state, session, next);
  };
}

/** What a client says is believed or not, and is never its error: a cookie may be of last year. */
function believed(text: string | undefined, check: TokenCheck): TokenContent | undefined {
  if (text === undefined) return undefined;
  try {
    return readToken(text, check);
  } catch (error) {
    if (error instanceof InvalidTokenError) return undefined;
    throw error;
  }
}

// Node emits in the scope of the connection, or of another request on it, so a listener, such as a
// parser that calls the next handler or what runs when all is sent, would leave the session.
function listenInSession(emitter: EventEmitter, state: SplitState, session: Session): void {
  const emit: (event: string | symbol, ...values: unknown[]) => boolean =
    emitter.emit.bind(emitter);
  emitter.emit = (event: string | symbol, ...values: unknown[]) =>
    inSession(state, session, () => emit(event, ...values));
}

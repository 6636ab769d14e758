import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import {
  RWSplitClient,
  sessionMiddleware,
  type SessionMiddlewareOptions,
} from '../../../lib/index.ts';
import type { Mark } from '../../../lib/consistency/mark.ts';
import type { Session } from '../../../lib/consistency/session.ts';
import { requireState } from '../../../lib/knex/require-state.ts';
import { inSession, sessionOf } from '../../../lib/knex/session-scope.ts';

const early: Mark = { timeline: 1, lsn: 10n };
const late: Mark = { timeline: 1, lsn: 20n };
const blank = { written: undefined, seen: undefined, isUncertain: false };
const options: SessionMiddlewareOptions = { header: 'x-position', secret: 's1' };

/** A client that opens nothing. */
function client(): Knex {
  return knex({
    client: RWSplitClient,
    connection: { host: '127.0.0.1', port: 1 },
    rwSplit: { replicas: [] },
  });
}

/** One request, with the session that its handler ran in and what its response brings. */
interface Served {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly session: Session;
  readonly token: string | undefined;
}

function serve(
  db: Knex,
  how: SessionMiddlewareOptions,
  { token, handle }: { token?: string | undefined; handle?: (session: Session) => void } = {},
): Served {
  const headers = token === undefined ? {} : { 'x-position': token };
  const request = Object.assign(new IncomingMessage(new Socket()), { headers });
  const response = new ServerResponse(request);
  const seen: Session[] = [];

  sessionMiddleware(db, how)(request, response, () => seen.push(sessionOf(requireState(db))));
  const [session] = seen;
  if (session === undefined) throw new Error('next() was not called.');
  handle?.(session);
  response.writeHead(200);

  const given = response.getHeader('x-position');
  return { request, response, session, token: given === undefined ? undefined : String(given) };
}

function writing(mark: Mark): (session: Session) => void {
  return (session) => session.noteWritten(mark, 0);
}

describe('sessionMiddleware', () => {
  it('gives each request a session of its own', () => {
    const db = client();

    const [one, other] = [serve(db, options), serve(db, options)];

    expect(one.session).not.toBe(other.session);
    expect(one.session).not.toBe(requireState(db).session);
  });

  it('carries what a request wrote to the next one, in another process', () => {
    const { token } = serve(client(), options, { handle: writing(early) });

    expect(serve(client(), options, { token }).session.content).toMatchObject({ written: early });
  });

  it('gives no token where nothing was written, nor what the request brought', () => {
    const db = client();
    const { token } = serve(db, options, { handle: writing(late) });

    expect(serve(db, options).token).toBeUndefined();
    expect(serve(db, options, { token }).token).toBeUndefined();
    expect(serve(db, options, { token, handle: writing(early) }).token).toBeUndefined();
  });

  it('gives a token for a write whose position is unknown', () => {
    const { token } = serve(client(), options, { handle: (session) => session.doubt() });

    expect(serve(client(), options, { token }).session.isUncertain).toBe(true);
  });

  it.each<[string, SessionMiddlewareOptions]>([
    ['its own', { ...options, secret: ['s2', 's1'] }],
    ['the one before', { ...options, secret: ['s1', 's0'] }],
  ])('believes a token signed with a secret of a list: %s', (_, how) => {
    const { token } = serve(client(), options, { handle: writing(early) });

    expect(serve(client(), how, { token }).session.content).toMatchObject({ written: early });
  });

  it.each(['', 'yes', '1.c.1-a...mjuohs00', `1.c.1-a...mjuohs00.${'A'.repeat(24)}`])(
    'goes on as if a request had brought nothing where its token is %j',
    (token) => {
      expect(serve(client(), options, { token }).session.content).toEqual(blank);
    },
  );

  it.each(['request', 'response'] as const)(
    'keeps the listeners of a %s in its session, whoever emits',
    (which) => {
      const db = client();
      const { session, [which]: emitter } = serve(db, options);
      const other = serve(db, options).session;
      const state = requireState(db);
      const seen: unknown[] = [];
      emitter.on('close', (...values) => {
        seen.push(...values, sessionOf(state) === session);
      });

      const isHeard = inSession(state, other, () => emitter.emit('close', 'early'));

      expect([isHeard, ...seen]).toEqual([true, 'early', true]);
      expect(sessionOf(state)).toBe(state.session);
    },
  );

  it('keeps the session of a request that passes it twice', () => {
    const db = client();
    const middleware = sessionMiddleware(db, options);
    const request = Object.assign(new IncomingMessage(new Socket()), { headers: {} });
    const response = new ServerResponse(request);
    const seen: Session[] = [];
    const handle = (): void => void seen.push(sessionOf(requireState(db)));

    middleware(request, response, handle);
    middleware(request, response, handle);

    expect(seen).toHaveLength(2);
    expect(seen[1]).toBe(seen[0]);
    expect(seen[0]).not.toBe(requireState(db).session);
  });

  it("begins sessions as it is told, else as the client's", () => {
    const plain = serve(client(), options).session.settings;
    const told = serve(client(), { ...options, consistency: 'strong', monotonic: true });

    expect(plain).toMatchObject({ mode: 'session', waitMillis: 0, monotonic: false });
    expect(told.session.settings).toMatchObject({ mode: 'strong', waitMillis: 0, monotonic: true });
  });

  it('refuses a client that does not split', () => {
    const db = knex({ client: RWSplitClient });

    expect(() => sessionMiddleware(db, options)).toThrow('This Knex instance splits nothing');
  });
});

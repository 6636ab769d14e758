import { once } from 'node:events';
import { connect } from 'node:http2';
import middie from '@fastify/middie';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fastify, { type FastifyInstance } from 'fastify';
import type { Knex } from 'knex';
import { sessionMiddleware } from '../../../lib/index.ts';
import { Browser } from '../../support/browser.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { useSplit } from '../../support/split.ts';

type Use = (app: FastifyInstance, db: Knex) => Promise<unknown>;

const options = { cookie: 'position', secret: 's1' };

const asHook: Use = async (app, db) => {
  const middleware = sessionMiddleware(db, options);
  return app.addHook('onRequest', (request, reply, done) => {
    middleware(request.raw, reply.raw, done);
  });
};

const asMiddleware: Use = async (app, db) => {
  await app.register(middie);
  return app.use(sessionMiddleware(db, options));
};

/** An application of notes, as one process serves it. */
async function notes(app: FastifyInstance, db: Knex, use: Use): Promise<void> {
  await use(app, db);
  app.get('/notes', async () => db('notes').orderBy('note').pluck('note'));
  app.post<{ Body: { note: string } }>('/notes', async ({ body }, reply) => {
    await db('notes').insert({ note: body.note });
    return reply.header('set-cookie', 'theme=dark').redirect('/notes', 303);
  });
  app.get('/visits', async (_request, reply) => {
    // Sent before the handler has ended.
    await db('notes').insert({ note: 'visit' });
    reply.raw.writeHead(200, { 'content-type': 'application/json' });
    reply.raw.end('[]');
    return reply.hijack();
  });
}

describe('An application on Fastify, served by two processes, of whose replica replay is paused', () => {
  const cluster = useOwnCluster({ replicas: 1 });
  const splits = useSplit(cluster);
  const apps: { close: () => PromiseLike<unknown> }[] = [];

  beforeAll(async () => {
    await cluster().primary.query('create table notes (note text)');
  });

  afterEach(async () => {
    await Promise.all(apps.splice(0).map(async (app) => app.close()));
    await cluster().replicas[0]?.resumeReplay();
    await cluster().primary.query('delete from notes');
  });

  async function pause(): Promise<void> {
    await cluster().waitForReplay();
    await cluster().replicas[0]?.pauseReplay();
  }

  async function start(use: Use): Promise<string> {
    const { db } = await splits.warm();
    const app = fastify({ forceCloseConnections: true });
    apps.push(app);
    await notes(app, db, use);
    return app.listen({ host: '127.0.0.1', port: 0 });
  }

  it.each<[string, Use]>([
    ['as a hook', asHook],
    ['as middleware of @fastify/middie', asMiddleware],
  ])('reads after a redirect what the request before it wrote: %s', async (_, use) => {
    const [one, other] = [await start(use), await start(use)];
    await pause();
    const browser = new Browser();

    const posted = await browser.post(one, '/notes', { note: 'a' });

    expect(posted.status).toBe(303);
    expect(await new Browser().read(other, '/notes')).toEqual([]);
    expect(await browser.read(other, posted.headers.get('location') ?? '')).toEqual(['a']);
    expect(await browser.read(one, '/notes')).toEqual(['a']);
    expect(await new Browser().read(one, '/notes')).toEqual([]);
    expect(browser.cookies).toEqual(['theme', 'position']);
  });

  it('carries what was written by a handler that answers without Fastify', async () => {
    const [one, other] = [await start(asHook), await start(asHook)];
    await pause();
    const browser = new Browser();

    await browser.read(one, '/visits');

    expect(await browser.read(other, '/notes')).toEqual(['visit']);
  });

  it('keeps what runs when all is sent in the session, over HTTP/2, too', async () => {
    const { db } = await splits.warm();
    const middleware = sessionMiddleware(db, options);
    const app = fastify({ http2: true });
    const read = new Promise((resolve) => {
      app.addHook('onRequest', (request, reply, done) => {
        middleware(request.raw, reply.raw, done);
      });
      app.addHook('onResponse', async () => resolve(await db('notes').pluck('note')));
    });
    app.get('/visits', async () => {
      await db('notes').insert({ note: 'visit' });
      return [];
    });
    const connection = connect(await app.listen({ host: '127.0.0.1', port: 0 }));
    apps.push(app);
    await pause();

    const [headers] = await once(connection.request({ ':path': '/visits' }).resume(), 'response');
    connection.close();

    expect(headers).toMatchObject({ 'set-cookie': [expect.stringMatching(/^position=/)] });
    expect(await read).toEqual(['visit']);
  });
});

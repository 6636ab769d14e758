import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import express, { type Express } from 'express';
import type { Knex } from 'knex';
import { sessionMiddleware, type SessionMiddlewareOptions } from '../../../lib/index.ts';
import { Browser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { useHttpServers } from '../../support/http-servers.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { useSplit } from '../../support/split.ts';

const cookie: SessionMiddlewareOptions = { cookie: 'position', secret: 's1' };

/** An application of notes, as one process serves it. */
function notes(db: Knex, options: SessionMiddlewareOptions): Express {
  const app = express();
  const add = async (note: string): Promise<void> => {
    await db('notes').insert({ note });
  };

  app.use(sessionMiddleware(db, options), express.json());
  app.get('/notes', async (_request, response) => {
    response.json(await db('notes').orderBy('note').pluck('note'));
  });
  app.post('/notes', async ({ body }: { body: { note: string } }, response) => {
    await add(body.note);
    response.cookie('theme', 'dark').redirect(303, '/notes');
  });
  // Express hands on what is rejected, from version 5.
  // oxlint-disable-next-line oxc/no-async-endpoint-handlers
  app.post('/text', async (request, response) => {
    await add(await text(request));
    response.writeHead(201, { 'set-cookie': 'theme=light' }).end();
  });
  app.post('/events', (request, response, next) => {
    const chunks: string[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    request.on('end', () => {
      add(chunks.join('')).then(() => response.sendStatus(201), next);
    });
  });
  app.post('/failure', async ({ body }: { body: { note: string } }) => {
    await add(body.note);
    throw new Error('after the write');
  });
  // Express knows a handler of errors by its four parameters.
  app.use((_error: Error, _request: unknown, response: express.Response, _next: unknown) => {
    response.status(500).end();
  });
  return app;
}

describe('An application on Express, served by two processes, of whose replica replay is paused', () => {
  const cluster = useOwnCluster({ replicas: 1 });
  const splits = useSplit(cluster);
  const listen = useHttpServers();

  beforeAll(async () => {
    await cluster().primary.query('create table notes (note text)');
  });

  afterEach(async () => {
    await cluster().replicas[0]?.resumeReplay();
    await cluster().primary.query('delete from notes');
  });

  async function pause(): Promise<void> {
    await cluster().waitForReplay();
    await cluster().replicas[0]?.pauseReplay();
  }

  async function start(options: SessionMiddlewareOptions = cookie): Promise<string> {
    const { db } = await splits.warm();
    return listen(notes(db, options));
  }

  it('reads after a redirect what the request before it wrote', async () => {
    const [one, other] = [await start(), await start()];
    await pause();
    const browser = new Browser();

    const posted = await browser.post(one, '/notes', { note: 'a' });

    expect(posted.status).toBe(303);
    expect(await browser.read(other, posted.headers.get('location') ?? '')).toEqual(['a']);
    expect(await browser.read(one, '/notes')).toEqual(['a']);
    expect(browser.cookies).toEqual(['theme', 'position']);
  });

  it('reads the old state without the cookie, on the same connection, too', async () => {
    const one = await start();
    await pause();
    const browser = new Browser();
    await browser.post(one, '/notes', { note: 'a' });

    expect(await new Browser().read(one, '/notes')).toEqual([]);
    expect(await browser.read(one, '/notes')).toEqual(['a']);
    expect(await new Browser().read(one, '/notes')).toEqual([]);
  });

  it('sets the cookie for writes alone, and leaves their reads to a replica that has them', async () => {
    const { db, servers } = await splits.warm();
    const one = await listen(notes(db, cookie));
    const browser = new Browser();

    // On a busy machine the first sight of a table goes to the primary.
    await eventually(async () => {
      servers();
      await browser.send(one, '/notes');
      expect(servers()).toEqual(['replica-1']);
    });
    const before = browser.cookies;
    const posted = await browser.post(one, '/notes', { note: 'a' });
    await cluster().waitForReplay();
    servers();
    const read = await browser.send(one, '/notes');

    expect(before).toEqual([]);
    expect(posted.headers.getSetCookie()).toEqual([
      'theme=dark; Path=/',
      expect.stringMatching(
        /^position=[\w.-]+; Max-Age=300; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
    expect(read.headers.getSetCookie()).toEqual([]);
    expect(servers()).toEqual(['replica-1']);
  });

  it.each([
    ['by a handler that read the body itself, and set headers as it began', '/text'],
    ['by a listener of the body', '/events'],
  ])('carries what was written %s', async (_, path) => {
    const [one, other] = [await start(), await start()];
    await pause();
    const browser = new Browser();

    const headers = { 'content-type': 'text/plain' };
    const posted = await browser.send(one, path, { method: 'POST', body: 'a', headers });

    expect(posted.status).toBe(201);
    expect(await browser.read(other, '/notes')).toEqual(['a']);
  });

  it('carries what was written before an error', async () => {
    const [one, other] = [await start(), await start()];
    await pause();
    const browser = new Browser();

    const failed = await browser.post(one, '/failure', { note: 'a' });

    expect(failed.status).toBe(500);
    expect(await browser.read(other, '/notes')).toEqual(['a']);
  });

  it('carries the session in a header', async () => {
    const header = { header: 'X-Position', secret: 's1' };
    const [one, other] = [await start(header), await start(header)];
    await pause();

    const posted = await new Browser().post(one, '/notes', { note: 'a' });
    const position = posted.headers.get('x-position') ?? '';
    const read = await fetch(`${other}/notes`, { headers: { 'x-position': position } });

    expect(posted.headers.getSetCookie()).toEqual(['theme=dark; Path=/']);
    expect(await read.json()).toEqual(['a']);
  });

  it.each([
    ['forged', { cookie: 'position', secret: 's2' }],
    ['of no form', { cookie: 'theme', secret: 's1' }],
  ])('serves a request whose token is %s as if it brought none', async (_, options) => {
    const [one, other] = [await start(), await start(options)];
    await pause();
    const browser = new Browser();

    await browser.post(one, '/notes', { note: 'a' });

    expect(await browser.read(other, '/notes')).toEqual([]);
    expect(await browser.read(one, '/notes')).toEqual(['a']);
  });
});

import { once } from 'node:events';
import express from 'express';
import knex from 'knex';
import { RWSplitClient, sessionMiddleware } from 'knex-rwsplit';

const { DATABASE_URL = '', COOKIE_SECRET = 'a long random string' } = process.env;

/** Starts one of the processes that serve a shop. */
async function serve() {
  const db = knex({ client: RWSplitClient, connection: DATABASE_URL });
  const app = express();

  // For Fastify: app.addHook('onRequest', (req, reply, done) => session(req.raw, reply.raw, done)).
  const session = sessionMiddleware(db, { cookie: 'position', secret: COOKIE_SECRET });
  app.use(session);

  app.post('/orders/:item', async ({ params: { item } }, response) => {
    await db('orders').insert({ item });
    response.redirect(303, '/orders');
  });
  app.get('/orders', async (_request, response) => {
    response.json(await db('orders').orderBy('id').pluck('item'));
  });

  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'string' ? address : address?.port;
  return { db, server, url: `http://127.0.0.1:${port}` };
}

const [one, other] = await Promise.all([serve(), serve()]);

// A browser posts a form. The cookie that comes back says how far the request has written: it is
// kept for five minutes, and no script can read it. Over plain HTTP, as here, a browser would drop
// it: for development there is cookie: { name: 'position', secure: false }.
const posted = await fetch(`${one.url}/orders/milk`, { method: 'POST', redirect: 'manual' });
const [setCookie = ''] = posted.headers.getSetCookie();
console.log(setCookie); // → position=…; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Lax

// It follows the redirect, which another process serves: with the cookie, a replica that has yet to
// hear of the order isn't asked.
const [cookie = ''] = setCookie.split(';');
const page = await fetch(`${other.url}${posted.headers.get('location')}`, { headers: { cookie } });
console.log(await page.json()); // → [ 'tea', 'coffee', 'milk' ]
console.log(page.headers.getSetCookie()); // → []

for (const { db, server } of [one, other]) {
  server.close().closeAllConnections();
  await db.destroy();
}

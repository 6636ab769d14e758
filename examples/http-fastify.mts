import fastify from 'fastify';
import knex from 'knex';
import { RWSplitClient, sessionMiddleware } from 'knex-rwsplit';

const { DATABASE_URL = '', COOKIE_SECRET = 'a long random string' } = process.env;
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });
const app = fastify();

const session = sessionMiddleware(db, { cookie: 'position', secret: COOKIE_SECRET });
app.addHook('onRequest', (request, reply, done) => session(request.raw, reply.raw, done));

app.post('/orders', async (_request, reply) => {
  await db('orders').insert({ item: 'milk' });
  return reply.redirect('/orders', 303);
});
app.get('/orders', () => db('orders').orderBy('id').pluck('item'));

const url = await app.listen();
const posted = await fetch(`${url}/orders`, { method: 'POST', redirect: 'manual' });
const [cookie = ''] = posted.headers.getSetCookie();
console.log(cookie); // → position=…; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Lax

await app.close();
await db.destroy();

import { once } from 'node:events';
import { ConnectSessionKnexStore } from 'connect-session-knex';
import express from 'express';
import session from 'express-session';
import knex from 'knex';
import { RWSplitClient, sessionMiddleware } from 'knex-rwsplit';

declare module 'express-session' {
  interface SessionData {
    visits: number;
  }
}

const { DATABASE_URL = '', COOKIE_SECRET = 'a long random string' } = process.env;
const db = knex({ client: RWSplitClient, connection: DATABASE_URL });
const app = express();

// First, so that another process reads the session that this one has written.
app.use(sessionMiddleware(db, { cookie: 'position', secret: COOKIE_SECRET }));
app.use(
  session({
    secret: COOKIE_SECRET,
    store: new ConnectSessionKnexStore({ knex: db, cleanupInterval: 0 }),
    resave: false,
    saveUninitialized: false,
  }),
);
app.get('/', (request, response, next) => {
  const visits = (request.session.visits ?? 0) + 1;
  request.session.visits = visits;
  // By itself express-session saves behind the headers, too late for the cookie to tell of it.
  request.session.save((error: unknown) => {
    if (error === null || error === undefined) response.send(`visit ${visits}`);
    else next(error);
  });
});

const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;

const first = await fetch(url);
console.log(await first.text()); // → visit 1
const cookies = first.headers.getSetCookie();
console.log(cookies.map((cookie) => cookie.replace(/=.*/, ''))); // → [ 'connect.sid', 'position' ]

const cookie = cookies.map((one) => one.split(';')[0]).join('; ');
const second = await fetch(url, { headers: { cookie } });
console.log(await second.text()); // → visit 2

server.closeAllConnections();
server.close();
await db.destroy();

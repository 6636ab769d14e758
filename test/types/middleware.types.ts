import { createServer } from 'node:http2';
import express from 'express';
import { expectTypeOf } from 'expect-type';
import fastify from 'fastify';
import { knex } from 'knex';
import { RWSplitClient, sessionMiddleware, type SessionMiddleware } from '../../lib/index.ts';

const db = knex({ client: RWSplitClient, rwSplit: { replicas: [] } });
// What comes from the environment may be undefined.
const secret = process.env['SECRET'];

const middleware = sessionMiddleware(db, { cookie: 'position', secret });
expectTypeOf(middleware).toEqualTypeOf<SessionMiddleware>();
sessionMiddleware(db, { header: 'x-position', secret: ['new', 'old'], monotonic: true });
sessionMiddleware(db, { cookie: { name: 'position', secure: false }, secret });

// @ts-expect-error Nothing says where tokens are.
sessionMiddleware(db, { secret });
// @ts-expect-error Two places for one token.
sessionMiddleware(db, { cookie: 'position', header: 'x-position', secret });
// @ts-expect-error A misspelt option.
sessionMiddleware(db, { cookie: 'position', secrets: secret });
// @ts-expect-error A cookie without a name.
sessionMiddleware(db, { cookie: { secure: false }, secret });

express().use(middleware);
express().use('/app', middleware, express.json());
fastify().addHook('onRequest', (request, reply, done) => {
  middleware(request.raw, reply.raw, done);
});
fastify({ http2: true }).addHook('onRequest', (request, reply, done) => {
  middleware(request.raw, reply.raw, done);
});
createServer((request, response) => {
  middleware(request, response, () => response.end());
});

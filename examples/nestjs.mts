import {
  Controller,
  Get,
  Inject,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type OnModuleDestroy,
  Post,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import 'reflect-metadata';
import knex, { type Knex } from 'knex';
import { RWSplitClient, sessionMiddleware } from 'knex-rwsplit';

const { DATABASE_URL = '', COOKIE_SECRET = 'a long random string' } = process.env;
const KNEX = Symbol('knex');

@Module({
  providers: [
    {
      provide: KNEX,
      useFactory: () => knex({ client: RWSplitClient, connection: DATABASE_URL }),
    },
  ],
  exports: [KNEX],
})
class DatabaseModule implements OnModuleDestroy {
  readonly #db: Knex;

  constructor(@Inject(KNEX) db: Knex) {
    this.#db = db;
  }

  async onModuleDestroy(): Promise<void> {
    await this.#db.destroy();
  }
}

@Controller('orders')
class OrdersController {
  readonly #db: Knex;

  constructor(@Inject(KNEX) db: Knex) {
    this.#db = db;
  }

  @Get()
  async list(): Promise<string[]> {
    return this.#db('orders').orderBy('id').pluck('item');
  }

  @Post()
  async add(): Promise<void> {
    await this.#db('orders').insert({ item: 'milk' });
  }
}

@Module({ imports: [DatabaseModule], controllers: [OrdersController] })
class AppModule implements NestModule {
  readonly #db: Knex;

  constructor(@Inject(KNEX) db: Knex) {
    this.#db = db;
  }

  configure(consumer: MiddlewareConsumer): void {
    const session = sessionMiddleware(this.#db, { cookie: 'position', secret: COOKIE_SECRET });
    consumer.apply(session).forRoutes('*path');
  }
}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
const url = `${await app.getUrl()}/orders`;

console.log(await (await fetch(url)).json()); // → [ 'tea', 'coffee' ]

const posted = await fetch(url, { method: 'POST' });
const [cookie = ''] = posted.headers.getSetCookie();
console.log(posted.status, cookie); // → 201 position=…; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Lax

const again = await fetch(url, { headers: { cookie: cookie.split(';')[0] ?? '' } });
console.log(await again.json()); // → [ 'tea', 'coffee', 'milk' ]

await app.close();

import { expectTypeOf } from 'expect-type';
import { knex, type Knex } from 'knex';
import {
  type ConfigError,
  createRWSplitClient,
  onPrimary,
  onReplica,
  RWSplitClient,
  type RWSplitError,
  rwSplit,
} from '../../lib/index.ts';

interface User {
  id: number;
  name: string;
}

const db = knex({
  client: RWSplitClient,
  connection: { host: 'pg-1', user: 'app', password: 'secret', database: 'shop' },
  pool: { min: 0, max: 10 },
  rwSplit: { replicas: [{ host: 'pg-2' }, { host: 'pg-3', weight: 2 }, 'postgres://pg-4/shop'] },
});

expectTypeOf(db).toExtend<Knex>();
knex({ client: createRWSplitClient(knex), rwSplit: { replicas: [] } });
expectTypeOf(rwSplit(db)).not.toBeAny();

// What comes from the environment may be undefined.
knex({ client: RWSplitClient, rwSplit: { balancer: process.env['BALANCER'] } });
knex({ client: RWSplitClient });
// @ts-expect-error A misspelt option.
knex({ client: RWSplitClient, rwSplit: { replica: [] } });
// @ts-expect-error A word that the option does not know.
knex({ client: RWSplitClient, rwSplit: { target: 'replicas' } });
// @ts-expect-error An option that stands beside its key.
knex({ client: RWSplitClient, replicas: [] });

const users = db<User>('users').select('id');
expectTypeOf(onPrimary(users)).toEqualTypeOf(users);
expectTypeOf(onReplica(db.raw('select 1'))).toEqualTypeOf(db.raw('select 1'));
expectTypeOf(onPrimary(db.schema)).toEqualTypeOf(db.schema);
const handle = rwSplit(db);
expectTypeOf(handle.onPrimary(() => db<User>('users').first())).toEqualTypeOf<
  Promise<User | undefined>
>();
expectTypeOf(handle.onReplica(() => users)).toEqualTypeOf<Promise<Pick<User, 'id'>[]>>();
expectTypeOf(handle.onReplica(async () => 'answer')).toEqualTypeOf<Promise<string>>();
expectTypeOf(handle.onPrimary(() => 7)).toEqualTypeOf<number>();
export const names: PromiseLike<Pick<User, 'name'>[]> = db<User>('users')
  .select('name')
  .modify(onReplica);

expectTypeOf<ConfigError>().toExtend<RWSplitError>();
expectTypeOf<ConfigError['path']>().toEqualTypeOf<string>();
expectTypeOf<RWSplitError['code']>().toExtend<`RWSPLIT_${string}`>();

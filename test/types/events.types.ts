import { expectTypeOf } from 'expect-type';
import { knex } from 'knex';
import {
  type Attempt,
  type ErrorRoute,
  type HostDownEvent,
  type HostExcludedEvent,
  type HostFencedEvent,
  type HostLagEvent,
  type HostRole,
  type HostSnapshot,
  type HostUpEvent,
  type PoolStats,
  type RetryEvent,
  RWSplitClient,
  rwSplit,
  type ServedStats,
} from '../../lib/index.ts';

const handle = rwSplit(knex({ client: RWSplitClient, rwSplit: { replicas: [] } }));

handle.on('host:up', (event) => expectTypeOf(event).toEqualTypeOf<HostUpEvent>());
handle.on('host:down', (event) => expectTypeOf(event).toEqualTypeOf<HostDownEvent>());
handle.on('host:lag', (event) => expectTypeOf(event).toEqualTypeOf<HostLagEvent>());
handle.on('host:fenced', (event) => expectTypeOf(event).toEqualTypeOf<HostFencedEvent>());
handle.on('host:excluded', (event) => expectTypeOf(event).toEqualTypeOf<HostExcludedEvent>());
handle.on('retry', (event) => expectTypeOf(event).toEqualTypeOf<RetryEvent>());
// @ts-expect-error An event that does not exist.
handle.on('host:gone', () => undefined);

expectTypeOf(handle.hosts()).toEqualTypeOf<HostSnapshot[]>();
expectTypeOf(handle.checkNow()).toEqualTypeOf<Promise<number>>();
expectTypeOf<HostSnapshot['state']>().toEqualTypeOf<
  'draining' | 'unknown' | 'up' | 'suspect' | 'down' | 'half-open'
>();

expectTypeOf<HostSnapshot['pool']>().toEqualTypeOf<PoolStats>();
expectTypeOf<HostSnapshot['served']>().toEqualTypeOf<ServedStats>();
expectTypeOf<ErrorRoute['role']>().toEqualTypeOf<HostRole>();
expectTypeOf<Attempt['role']>().toEqualTypeOf<HostRole>();
expectTypeOf<ErrorRoute['outcome']>().toEqualTypeOf<'unknown' | undefined>();
expectTypeOf<ErrorRoute['attempts']>().toEqualTypeOf<readonly Attempt[]>();

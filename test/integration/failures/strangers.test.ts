import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { Cluster } from '../../../lib/testing/index.ts';
import { launchCluster } from '../../../lib/testing/launch-cluster.ts';
import { awaitHost } from '../../support/await-host.ts';
import { eventually } from '../../support/eventually.ts';
import { addressOf, useFailover } from '../../support/failover.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { forgetStatements, statementsSeen } from '../../support/statements-seen.ts';
import type { Split } from '../../support/split.ts';

const insert = (db: Knex, body: string): Knex.QueryBuilder => db('notes').insert({ body });

const users: [string, { user?: string; password?: string }][] = [
  ['a superuser', {}],
  // Without the system identifier there is less to know a server by.
  ['a role that may not see identifiers', { user: 'blind', password: 'blind' }],
];

const role = `
  create extension if not exists pg_stat_statements;
  create role blind login password 'blind';
  grant select, insert on notes to blind;
  revoke execute on function pg_control_system() from public;
`;

describe('A server of another cluster that is written as a replica', () => {
  const { cluster, hosts, cold } = useFailover({ settings: { wal_level: 'logical' } });
  let other: Cluster | undefined;

  beforeAll(async () => {
    other = await launchCluster({ replicas: 1 });
    await createRoutingSchema(other, role);
    await cluster().primary.query(role);
    await cluster().primary.query('create publication notes for table notes');
    await cluster().waitForReplay();
    // Its own primary is a logical subscriber, and a primary like any other.
    const { host, port, user, password, database } = cluster().primary.connection;
    await other.primary.query(
      `create subscription notes
        connection 'host=${host} port=${port} user=${user} password=${password} dbname=${database}'
        publication notes`,
    );
  });

  afterAll(async () => {
    await other?.stop();
  });

  beforeEach(async () => {
    for (const host of stranger().hosts) await forgetStatements(host);
  });

  const stranger = (): Cluster => {
    if (other === undefined) throw new Error('The other cluster is there only once a test runs.');
    return other;
  };

  /** A client to which the stranger, and one replica, are replicas. */
  const clientOf = (user: { user?: string; password?: string }, isReplica = false): Split => {
    const [first, second] = hosts();
    const guest = isReplica ? stranger().hosts[1] : stranger().primary;
    if (guest === undefined) throw new Error('The other cluster has a replica.');
    const { name, host, port } = second;
    return cold({
      connection: { ...first.connection, ...user },
      rwSplit: {
        replicas: [
          { name: 'stranger', ...guest.connection, ...user },
          { name, host, port },
        ],
      },
    });
  };

  it.each(users)('gets nothing, as a logical subscriber, from %s', async (_, user) => {
    const { db, servers } = clientOf(user);

    for (let n = 0; n < 6; n++) {
      await insert(db, `known ${user.user} ${n}`);
      await db('notes').count();
    }

    expect(new Set(servers())).toEqual(new Set(['primary', 'replica-1']));
    expect(rwSplit(db).hosts()[1]?.reason).toMatch(/another cluster|nothing shows/);
    expect(await statementsSeen(stranger().primary)).toEqual([]);
  });

  it.each(users)(
    'gets nothing, as a logical subscriber, from %s while the primary is down',
    async (_, user) => {
      const [first] = hosts();
      await first.kill();
      const { db, servers } = clientOf(user);

      const writing = insert(db, `waited for ${user.user}`).then(() => 'done');
      for (let n = 0; n < 6; n++) await db('notes').count();
      await awaitHost(db, 'stranger', ({ reason }) => reason !== undefined);
      expect(new Set(servers())).toEqual(new Set(['replica-1']));
      await first.start();

      expect(await writing).toBe('done');
      expect(servers()).toEqual(['primary']);
      expect(await statementsSeen(stranger().primary)).toEqual([]);
    },
  );

  it('gets nothing, as a replica of its own primary', async () => {
    const { db, servers } = clientOf({}, true);
    const [, guest] = stranger().hosts;

    for (let n = 0; n < 6; n++) {
      await insert(db, `of another primary ${n}`);
      await db('notes').count();
    }

    expect(new Set(servers())).toEqual(new Set(['primary', 'replica-1']));
    expect(rwSplit(db).hosts()[1]?.reason).toMatch(/another cluster/);
    expect(guest && (await statementsSeen(guest))).toEqual([]);
  });

  it('gets nothing after a failover, either', async () => {
    const [first, second] = hosts();
    const { db } = clientOf({});
    await insert(db, 'before the failover');

    await first.kill();
    // What is sent to a server that has just died has an outcome that nobody knows.
    await awaitHost(db, addressOf(first), ({ state }) => state !== 'up');
    const writing = insert(db, 'through the failover').then(() => 'done');
    await second.promote();

    expect(await writing).toBe('done');
    await eventually(() => rwSplit(db).hosts()[2]?.role === 'primary');
    expect(await statementsSeen(stranger().primary)).toEqual([]);
  });
});

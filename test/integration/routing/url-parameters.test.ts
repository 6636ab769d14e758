import { describe, expect, it } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { ConfigError, RWSplitClient, rwSplit } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { useSplit } from '../../support/split.ts';

type Form = 'a URL' | 'a connectionString';

const forms: Record<Form, (url: string) => NonNullable<Knex.Config['connection']>> = {
  'a URL': (url) => url,
  'a connectionString': (url) => ({ connectionString: url }),
};

const targets: [string, string, string][] = [
  ['targetServerType=any', 'replica', 'primary'],
  ['targetServerType=master', 'primary', 'primary'],
  ['targetServerType=primary', 'primary', 'primary'],
  ['targetServerType=slave', 'replica', '25006'],
  ['targetServerType=secondary', 'replica', '25006'],
  ['targetServerType=preferSlave', 'replica', 'primary'],
  ['targetServerType=preferSecondary', 'replica', 'primary'],
  ['target_session_attrs=any', 'replica', 'primary'],
  ['target_session_attrs=primary', 'primary', 'primary'],
  ['target_session_attrs=read-write', 'primary', 'primary'],
  ['target_session_attrs=standby', 'replica', '25006'],
  ['target_session_attrs=read-only', 'replica', '25006'],
  ['target_session_attrs=prefer-standby', 'replica', 'primary'],
  ['enableStatementLoadBalance=true', 'replica', 'primary'],
];

const rhythms: [string, RegExp][] = [
  ['', /^(?:(?:12)+|(?:21)+)$/],
  ['autoBalance=roundrobin', /^(?:(?:12)+|(?:21)+)$/],
  ['autoBalance=true', /^(?:(?:12)+|(?:21)+)$/],
  ['autoBalance=balance', /^(?:(?:12)+|(?:21)+)$/],
  // A rotation is one of 2³⁹ outcomes.
  ['autoBalance=shuffle', /11|22/],
  ['autoBalance=priority1', /^1+$/],
  ['autoBalance=priority2', /^(?:(?:12)+|(?:21)+)$/],
  ['autoBalance=leastconn', /^(?:(?:12)+|(?:21)+)$/],
  ['autoBalance=false', /^1+$/],
  ['loadBalanceHosts=true', /11|22/],
  ['loadBalanceHosts=false', /^1+$/],
  ['load_balance_hosts=random', /11|22/],
  ['load_balance_hosts=disable', /^1+$/],
];

const unknown: [string, string][] = [
  ['targetServerType=leader', 'preferSlave'],
  ['target_session_attrs=writable', 'read-write'],
  ['autoBalance=fair', 'roundrobin'],
  ['autoBalance=priority', 'priority<n>'],
  ['loadBalanceHosts=yes', 'true'],
  ['load_balance_hosts=round', 'random'],
  ['enableStatementLoadBalance=on', 'true'],
  ['writeDataSourceAddress=:1:', 'host and port'],
];

const cluster = useRoutingDatabase();
const split = useSplit(cluster, 'eventual');

describe.each(Object.keys(forms) as Form[])('In %s', (form) => {
  // Both forms are read by the same code: a sample shows that it is reached.
  const rowsOf = <T>(table: T[]): T[] =>
    form === 'a URL' ? table : table.filter((_, index) => index % 4 === 1);
  const connect = (parameter: string): Knex.Config => ({
    connection: forms[form](`${cluster().url}?${parameter}`),
  });

  it.each(rowsOf(targets))(
    '%s reads from a %s and writes to: %s',
    async (parameter, reader, writer) => {
      const { db, servers } = await split.warm(connect(parameter));

      await db('notes').select();
      const refused = await codeOf(db('notes').where('rank', -1).del());

      const [read, written] = servers();
      expect(read).toMatch(reader);
      expect(refused ?? written).toBe(writer);
    },
  );

  it.each(rowsOf(rhythms))('"%s" takes the replicas in the order %s', async (parameter, rhythm) => {
    const { db, servers } = await split.warm(connect(parameter));

    for (let read = 0; read < 40; read++) await db.raw('select 1');

    const order = servers().map((name) => name.replace('replica-', ''));
    expect(order.join('')).toMatch(rhythm);
  });

  it('writeDataSourceAddress names the presumed primary, wherever it is among the hosts', async () => {
    const { primary, replicas, url } = cluster();
    const [all = ''] = /[^@]+(?=\/[^/]+$)/.exec(url) ?? [];
    const address = `${primary.host}:${primary.port}`;
    const others = replicas.map(({ host, port }) => `${host}:${port}`);
    const written = url.replace(all, [...others, address].join(','));
    const { db, servers } = split.cold({
      connection: forms[form](`${written}?writeDataSourceAddress=${address}`),
    });

    const [first] = rwSplit(db).hosts();
    await db('notes').insert({ rank: 1 });

    expect(first).toMatchObject({ name: address, role: 'primary' });
    expect(servers()).toEqual(['primary']);
  });

  it.each(rowsOf(unknown))('%s is refused, with the known values', (parameter, known) => {
    const make = (): Knex => knex({ client: RWSplitClient, ...connect(parameter) });

    expect(make).toThrow(ConfigError);
    expect(make).toThrow(known);
    expect(make).not.toThrow(cluster().password);
  });

  it('a writeDataSourceAddress beside the hosts is refused', () => {
    const make = (): Knex =>
      knex({ client: RWSplitClient, ...connect('writeDataSourceAddress=127.0.0.1:1') });

    expect(make).toThrow('it must be one of 127.0.0.1:');
  });
});

describe('What is written under rwSplit', () => {
  it('wins over the parameters of the URL', async () => {
    const { db, servers } = await split.warm({
      connection: `${cluster().url}?targetServerType=master&autoBalance=shuffle`,
      rwSplit: { target: 'split', balancer: 'in-order' },
    });

    for (let read = 0; read < 8; read++) await db.raw('select 1');

    expect(servers()).toEqual(Array(8).fill('replica-1'));
  });
});

async function codeOf(outcome: PromiseLike<unknown>): Promise<unknown> {
  try {
    await outcome;
    return undefined;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

import { once } from 'node:events';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Client, ClientConfig } from 'pg';
import type { HostRole } from '../../../lib/index.ts';
import { judgeConnectError, judgeStatementError } from '../../../lib/routing/failure.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { until } from '../../../lib/testing/until.ts';
import { failureInWords } from '../../support/failure-in-words.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { usePlainClients } from '../../support/plain-clients.ts';

const unreachable = 'network, lost, ran no; read elsewhere, write yes';
const starting = 'starting, lost, ran no; read elsewhere, write yes';
const overloaded = 'overloaded, lost, ran no; read elsewhere, write yes';
const misconfigured = 'misconfigured, lost, ran no; read elsewhere, write no';

const lost = 'network, lost, ran unknown; read elsewhere, write no';
const silent = 'doubtful, lost, ran unknown; read elsewhere, write no';
const unsent = 'doubtful, lost, ran no; read elsewhere, write yes';
const timedOut = 'none, lost, ran no; read elsewhere, write yes';
const ended = 'none, lost, ran unknown; read no, write no';
const own = 'none, kept, ran no; read no, write no';
const conflict = 'none, kept, ran no; read elsewhere, write no';
const toPrimary = 'none, kept, ran no; read primary, write no';
const ifBehind = 'none, kept, ran no; read primary-if-behind, write no';
const ifDemoted = 'none, kept, ran no; read no, write if-demoted';

/** An error by what the driver has to tell of it. */
interface Seen {
  readonly code?: string;
  readonly severity?: string;
  readonly message: string;
  readonly detail?: string;
}

describe('An error of a real server', () => {
  const cluster = useOwnCluster({
    replicas: 1,
    maxConnections: 16,
    settings: { max_standby_streaming_delay: '0' },
  });
  const open = usePlainClients();

  const host = (role: HostRole): TestHost =>
    role === 'primary' ? cluster().primary : (cluster().replicas[0] as TestHost);

  beforeAll(async () => {
    const primary = cluster().primary;
    await primary.query('create table notes (id int primary key)');
    await primary.query('insert into notes select generate_series(1, 10)');
    await primary.query('create unlogged table scratch (id int)');
    await primary.query('create extension dblink');
    await cluster().waitForReplay();
  });

  async function errorOf(work: Promise<unknown>): Promise<Seen> {
    try {
      await work;
    } catch (error) {
      return error as Seen;
    }
    throw new Error('There was no error.');
  }

  async function pidOf(client: Client): Promise<number> {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return rows[0]?.pid ?? 0;
  }

  /** Keeps a session of a host busy, and resolves once the server is at it. */
  async function fallAsleep(role: HostRole, client: Client): Promise<{ answer: Promise<Seen> }> {
    const pid = await pidOf(client);
    const answer = errorOf(client.query('select pg_sleep(20)'));
    // A server that ends before it has read the statement resets the connection.
    await until('the statement runs', 5000, async () => {
      const text = "select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'";
      return (await host(role).query(text, [pid])).length > 0;
    });
    return { answer };
  }

  const ofConnecting = (error: Seen): string => failureInWords(judgeConnectError(error));
  const ofStatement = (error: Seen, role: HostRole): string =>
    failureInWords(judgeStatementError(error, role));

  /** Asks again and again until a connection opens, and collects what is said until then. */
  async function errorsUntilItOpens(role: HostRole): Promise<Seen[]> {
    const errors: Seen[] = [];
    await until(`the ${role} lets a client in`, 15_000, () =>
      open(host(role)).then(
        () => true,
        (error: unknown) => {
          errors.push(error as Seen);
          return false;
        },
      ),
    );
    return errors;
  }

  describe('while a connection opens', () => {
    it.each<[string, ClientConfig, Partial<Seen>, string]>([
      ['an unknown name', { host: 'replica.invalid' }, {}, unreachable],
      ['a wrong password', { password: 'wrong' }, { code: '28P01' }, misconfigured],
      ['an empty password', { password: () => '' }, {}, misconfigured],
      ['a missing database', { database: 'missing' }, { code: '3D000' }, misconfigured],
      ['an unknown setting', { options: '-c nothing=on' }, { code: '42704' }, misconfigured],
      ['a wrong setting', { options: '-c work_mem=x' }, { code: '22023' }, misconfigured],
      ['TLS where there is none', { ssl: true }, {}, misconfigured],
    ])('%s', async (_, more, seen, expected) => {
      const error = await errorOf(open(host('replica'), more));

      expect(error).toMatchObject(seen);
      expect(ofConnecting(error)).toBe(expected);
    });

    it('a hung server', async () => {
      host('replica').hang();

      const error = await errorOf(open(host('replica'), { connectionTimeoutMillis: 200 }));

      host('replica').wake();
      expect(error.message).toBe('timeout expired');
      expect(ofConnecting(error)).toBe(unreachable);
    });

    it('more connections than there may be', async () => {
      const opening = Array.from({ length: 20 }, () => open(host('replica')));
      const settled = await Promise.allSettled(opening);

      const errors = settled.flatMap((one) =>
        one.status === 'rejected' ? [one.reason as Seen] : [],
      );
      expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['53300']));
      expect(new Set(errors.map(ofConnecting))).toEqual(new Set([overloaded]));
    });
  });

  describe('of a statement', () => {
    it.each<[HostRole, string, string, string]>([
      ['replica', 'insert into notes values (99)', '25006', toPrimary],
      ['replica', 'select txid_current()', '25006', toPrimary],
      ['replica', 'begin isolation level serializable', '0A000', toPrimary],
      ['replica', 'select * from scratch', '0A000', toPrimary],
      ['replica', 'select pg_current_wal_lsn()', '55000', toPrimary],
      ['replica', 'explain analyze create table copied as select 1', 'XX000', toPrimary],
      ['replica', "select pg_logical_emit_message(true, 'a', 'b')", 'XX000', toPrimary],
      ['replica', 'select * from missing', '42P01', ifBehind],
      ['replica', 'select missing from notes', '42703', ifBehind],
      ['replica', 'select missing()', '42883', ifBehind],
      ['replica', 'select 1::missing', '42704', ifBehind],
      ['replica', 'select missing.f()', '3F000', ifBehind],
      ['primary', 'select * from missing', '42P01', own],
      ['primary', 'set transaction read only; insert into notes values (99)', '25006', ifDemoted],
      ['primary', 'select pg_wal_replay_pause()', '55000', own],
      ['primary', 'insert into notes values (1)', '23505', own],
      ['primary', 'select 1 / 0', '22012', own],
      ['primary', 'selec', '42601', own],
      ['primary', "do $$ begin raise 'timeout expired'; end $$", 'P0001', own],
      ['primary', 'execute missing', '26000', own],
      ['primary', 'fetch missing', '34000', own],
      ['primary', 'drop database missing', '3D000', own],
      ['primary', 'set local statement_timeout = 20; select pg_sleep(20)', '57014', own],
      ['primary', "select dblink_connect('host=127.0.0.1 port=1')", '08001', own],
    ])('%s: %s', async (role, text, code, expected) => {
      const client = await open(host(role));

      const error = await errorOf(client.query(text));

      expect(error).toMatchObject({ code, severity: 'ERROR' });
      expect(ofStatement(error, role)).toBe(expected);
    });

    it('a write where read-only is the default', async () => {
      const options = '-c default_transaction_read_only=on';
      const client = await open(host('primary'), { options });

      const error = await errorOf(client.query('insert into notes values (99)'));

      expect(error.code).toBe('25006');
      expect(ofStatement(error, 'primary')).toBe(ifDemoted);
    });

    it('too many bindings', async () => {
      const client = await open(host('primary'));

      const error = await errorOf(client.query('select $1::int', [1, 2]));

      expect(error.code).toBe('08P01');
      expect(ofStatement(error, 'primary')).toBe(own);
    });

    it('a transaction that failed before', async () => {
      const client = await open(host('primary'));
      await errorOf(client.query('begin; select 1 / 0'));

      const error = await errorOf(client.query('select 1'));

      expect(error.code).toBe('25P02');
      expect(ofStatement(error, 'primary')).toBe(own);
    });

    it('a lock that is not free in time', async () => {
      const holder = await open(host('primary'));
      const waiting = await open(host('primary'));
      await holder.query('begin; lock table notes');

      const error = await errorOf(
        waiting.query('set lock_timeout = 20; delete from notes where id = 1'),
      );

      expect(error.code).toBe('55P03');
      expect(ofStatement(error, 'primary')).toBe(own);
    });
  });

  describe('that ends sessions', () => {
    const gone = (client: Client): Promise<void> =>
      new Promise((resolve) => {
        client.once('end', resolve);
      });

    /** What a busy and an idle session of a host, and then the idle one's next statement, meet. */
    async function during(role: HostRole, event: (pids: number[]) => Promise<unknown>) {
      const [busy, idle] = [await open(host(role)), await open(host(role))];
      const heard: Seen[] = [];
      idle.on('error', (error: Seen) => heard.push(error));
      const pids = await Promise.all([busy, idle].map(pidOf));
      const { answer } = await fallAsleep(role, busy);
      await Promise.all([gone(idle), event(pids)]);
      return { busy: await answer, heard, next: await errorOf(idle.query('select 1')) };
    }

    it('a stop', async () => {
      const { busy, heard, next } = await during('replica', () => host('replica').stop());

      const refused = await errorOf(open(host('replica')));

      await host('replica').start();
      expect(busy).toMatchObject({ code: '57P01', severity: 'FATAL' });
      expect(ofStatement(busy, 'replica')).toBe(lost);
      expect(heard).toMatchObject([
        { code: '57P01' },
        { message: 'Connection terminated unexpectedly' },
      ]);
      expect(heard.map((error) => ofStatement(error, 'replica'))).toEqual([lost, lost]);
      expect(ofStatement(next, 'replica')).toBe(unsent);
      expect(refused.code).toBe('ECONNREFUSED');
      expect(ofConnecting(refused)).toBe(unreachable);
    });

    it('pg_terminate_backend', async () => {
      const { busy, heard, next } = await during('primary', (pids) =>
        host('primary').query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [
          pids,
        ]),
      );

      expect(busy).toMatchObject({ code: '57P01', severity: 'FATAL' });
      expect(ofStatement(busy, 'primary')).toBe(lost);
      expect(heard[0]?.code).toBe('57P01');
      expect(ofStatement(next, 'primary')).toBe(unsent);
    });

    it('the end of the machine', async () => {
      const { busy, heard, next } = await during('replica', () => host('replica').kill());

      await host('replica').start();
      expect(ofStatement(busy, 'replica')).toBe(lost);
      expect(heard.map((error) => ofStatement(error, 'replica'))).toContain(lost);
      expect(ofStatement(next, 'replica')).toBe(unsent);
    });

    it('the crash of another session', async () => {
      await host('primary').query('create table wal as select generate_series(1, 200000)');
      const other = await open(host('primary'));
      const pid = await pidOf(other);

      const { busy, next } = await during('primary', async () => process.kill(pid, 'SIGKILL'));
      const errors = await errorsUntilItOpens('primary');

      expect(busy.message).toBe('Connection terminated unexpectedly');
      expect(ofStatement(busy, 'primary')).toBe(lost);
      expect(ofStatement(next, 'primary')).toBe(unsent);
      expect(errors.map(({ code }) => code)).toContain('57P03');
      expect(errors.filter(({ code }) => code === '57P03').map(ofConnecting)).toContain(starting);
      // A connection may also be cut by the crash itself.
      expect([starting, unreachable]).toEqual(expect.arrayContaining(errors.map(ofConnecting)));
    });

    it('a server that hangs', async () => {
      const client = await open(host('replica'), { query_timeout: 200 });
      host('replica').hang();

      const error = await errorOf(client.query('select 1'));

      host('replica').wake();
      expect(error.message).toBe('Query read timeout');
      expect(ofStatement(error, 'replica')).toBe(silent);
    });

    it.each([
      ['25P03', 'begin; set local idle_in_transaction_session_timeout = 20', timedOut],
      ['57P05', 'set idle_session_timeout = 20', timedOut],
      ['25P04', 'begin; set local transaction_timeout = 20', ended],
    ])('a timeout of the session: %s', async (code, text, expected) => {
      const client = await open(host('primary'));
      const heard = once(client, 'error') as Promise<[Seen]>;
      const ends = gone(client);

      await client.query(text);

      const [error] = await heard;
      expect(error).toMatchObject({ code, severity: 'FATAL' });
      expect(ofStatement(error, 'primary')).toBe(expected);
      await ends;
      expect(ofStatement(await errorOf(client.query('select 1')), 'primary')).toBe(unsent);
    });

    it('this side', async () => {
      // The server sleeps on, which on the primary would keep vacuum from its work.
      const client = await open(host('replica'));
      const { answer } = await fallAsleep('replica', client);

      await client.end();

      expect((await answer).message).toBe('Connection terminated');
      expect(ofStatement(await answer, 'replica')).toMatch(/^none, lost, ran unknown/);
      const next = await errorOf(client.query('select 1'));
      expect(ofStatement(next, 'replica')).toMatch(/lost, ran no; read elsewhere, write yes/);
    });
  });

  describe('on a replica whose queries are in the way of the replay', () => {
    /** A session that needs rows which the primary has cleaned away by then. */
    async function withOldSnapshot(): Promise<Client> {
      const client = await open(host('replica'));
      await client.query('begin isolation level repeatable read; select count(*) from notes');
      return client;
    }

    const clean = async (): Promise<void> => {
      await host('primary').query('update notes set id = id');
      await host('primary').query('vacuum notes');
    };

    it('a running statement', async () => {
      const client = await withOldSnapshot();

      const { answer } = await fallAsleep('replica', client);
      await clean();
      const error = await answer;

      expect(error).toMatchObject({ code: '40001', severity: 'ERROR' });
      expect(error.detail).toMatch(/^User query might have needed/);
      expect(ofStatement(error, 'replica')).toBe(conflict);
    });

    it('an idle transaction', async () => {
      const client = await withOldSnapshot();
      const heard = once(client, 'error') as Promise<[Seen]>;

      await clean();

      const [error] = await heard;
      expect(error).toMatchObject({ code: '40001', severity: 'FATAL' });
      expect(ofStatement(error, 'replica')).toMatch(/^none, lost, ran unknown; read elsewhere/);
    });

    it('a database that is dropped', async () => {
      await host('primary').query('create database dropped strategy file_copy');
      await cluster().waitForReplay();
      const client = await open(host('replica'), { database: 'dropped' });

      const { answer } = await fallAsleep('replica', client);
      await host('primary').query('drop database dropped');
      const error = await answer;

      expect(error).toMatchObject({ code: '57P04', severity: 'FATAL' });
      expect(ofStatement(error, 'replica')).toBe(ended);
    });
  });

  it('that does not serve as a replica', async () => {
    await host('replica').query('alter system set hot_standby = off');
    await host('replica').stop();
    // It never gets ready, so this ends with the cluster.
    host('replica')
      .start()
      .catch(() => undefined);

    let error: Seen | undefined;
    await until('the replica says why', 10_000, async () => {
      error = await errorOf(open(host('replica')));
      return error.detail === 'Hot standby mode is disabled.';
    });

    expect(error?.code).toBe('57P03');
    expect(error === undefined ? '' : ofConnecting(error)).toBe(misconfigured);
  });
});

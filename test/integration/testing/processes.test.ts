import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { TestHost } from '../../../lib/testing/index.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';

/** Opens a session, and tells how it ends. */
async function openSession(host: TestHost): Promise<{ session: Client; end: Promise<unknown> }> {
  const session = new Client({ ...host.connection, connectionTimeoutMillis: 500 });
  const end = new Promise((resolve) => {
    session.on('error', resolve);
  });
  await session.connect();
  return { session, end };
}

const bootTime = 'select pg_postmaster_start_time()::text as started';

describe('The processes of a host', () => {
  const cluster = useOwnCluster({ replicas: 1 });
  const hostNames = ['primary', 'replica-1'];

  function host(name: string): TestHost {
    const found = cluster().hosts.find((one) => one.name === name);
    if (found === undefined) throw new Error(`There is no ${name}.`);
    return found;
  }

  it.each(hostNames)('of %s vanish without a word when it is killed', async (name) => {
    const { end } = await openSession(host(name));

    await host(name).kill();

    // Neither a notice nor an SQLSTATE, as when a machine is lost.
    await expect(end).resolves.toEqual(new Error('Connection terminated unexpectedly'));
    expect(host(name).isRunning).toBe(false);
    await expect(host(name).query('select 1')).rejects.toThrow('ECONNREFUSED');

    await host(name).start();
    await cluster().waitForReplay();

    await expect(host(name).query('select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });

  it.each(hostNames)('of %s take their leave when it is stopped', async (name) => {
    const { end } = await openSession(host(name));

    await host(name).stop();

    await expect(end).resolves.toMatchObject({ code: '57P01' });
    await host(name).start();
    expect(host(name).isRunning).toBe(true);
  });

  it.each(hostNames)(
    'of %s answer nothing while it hangs, and go on when it wakes',
    async (name) => {
      const { session } = await openSession(host(name));

      host(name).hang();
      const answer = session.query('select 1 as one');

      await expect(openSession(host(name))).rejects.toThrow('timeout expired');
      expect(host(name).isRunning).toBe(false);

      host(name).wake();

      await expect(answer).resolves.toMatchObject({ rows: [{ one: 1 }] });
      expect(host(name).isRunning).toBe(true);
      await session.end();
    },
  );

  it.each(['kill', 'stop'] as const)('can be ended by %s while they hang', async (verb) => {
    host('replica-1').hang();

    await host('replica-1')[verb]();
    await host('replica-1').start();

    await expect(host('replica-1').query('select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });

  it('are left alone by a verb that has nothing to do', async () => {
    const before = await host('replica-1').query(bootTime);

    await host('replica-1').start();
    host('replica-1').wake();

    await expect(host('replica-1').query(bootTime)).resolves.toEqual(before);
  });

  it('cannot hang where there are none', async () => {
    await host('replica-1').stop();
    await host('replica-1').stop();
    await host('replica-1').kill();

    expect(() => host('replica-1').hang()).toThrow('replica-1 cannot hang');
    await host('replica-1').start();
  });
});

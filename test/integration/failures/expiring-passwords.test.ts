import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { awaitHost, hostStates } from '../../support/await-host.ts';
import { eventually } from '../../support/eventually.ts';
import { useFailover } from '../../support/failover.ts';
import type { Split } from '../../support/split.ts';

const insert = (db: Knex, body: string): Knex.QueryBuilder => db('notes').insert({ body });

/** What hands out the tokens of one host, as a cloud's token service does. */
interface Tokens {
  readonly user: string;
  valid: string;
  /** Whether the token that was handed out last is still good for a new connection. */
  isExpired: boolean;
  /** How many were handed out. */
  given: number;
}

describe('A token for each host that expires', () => {
  const { hosts, cold } = useFailover({ isHealed: false });
  const users = ['token_1', 'token_2', 'token_3'] as const;

  beforeAll(async () => {
    const [first] = hosts();
    for (const user of users) {
      await first.query(`create role ${user} login password 'none'`);
      await first.query(`grant select, insert on notes to ${user}`);
    }
  });

  const issue = async (tokens: readonly Tokens[], value: string): Promise<void> => {
    const [first, second, third] = hosts();
    for (const token of tokens) {
      token.valid = `${value} for ${token.user}`;
      token.isExpired = true;
      await first.query(`alter role ${token.user} password '${token.valid}'`);
    }
    await second.waitForReplay();
    await third.waitForReplay();
  };

  const provider =
    ({ host, port, connection }: TestHost, token: Tokens) =>
    () => {
      token.given++;
      token.isExpired = false;
      return {
        host,
        port,
        database: connection.database,
        user: token.user,
        password: token.valid,
        expirationChecker: () => token.isExpired,
      };
    };

  const clientOf = (tokens: readonly Tokens[]): Split => {
    const [first, ...others] = hosts().map((host, index) => {
      const token = tokens[index];
      if (token === undefined) throw new Error('Each host has its tokens.');
      return provider(host, token);
    });
    if (first === undefined) throw new Error('There is no host.');
    return cold({ connection: first, rwSplit: { replicas: others } });
  };

  const makeTokens = (): Tokens[] =>
    users.map((user) => ({ user, valid: '', isExpired: true, given: 0 }));

  const endSessions = async (): Promise<void> => {
    for (const host of hosts()) {
      await host.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename like 'token%'",
      );
    }
  };

  it('is asked for anew by new connections, those of probes included', async () => {
    const tokens = makeTokens();
    await issue(tokens, 'first');
    const { db, servers } = clientOf(tokens);
    await insert(db, 'with the first token');
    for (let n = 0; n < 4; n++) await db('notes').count();
    const before = tokens.map(({ given }) => given);

    await issue(tokens, 'second');
    // Those that are open live on.
    servers();
    await insert(db, 'by the open connection');
    for (let n = 0; n < 4; n++) await db('notes').count();
    expect(new Set(servers())).toEqual(new Set(['primary', 'replica-1', 'replica-2']));
    await endSessions();
    await eventually(async () => insert(db, 'with the second token').then(() => true));
    for (let n = 0; n < 4; n++) await db('notes').count();

    expect(new Set(servers())).toEqual(new Set(['primary', 'replica-1', 'replica-2']));
    for (const { name } of rwSplit(db).hosts())
      await awaitHost(db, name, ({ state }) => state === 'up');
    const asked = tokens.map(({ given }, index) => given - (before[index] ?? 0));
    expect(asked.every((times) => times > 0)).toBe(true);
  });

  it('makes only its own host misconfigured when it is wrong', async () => {
    const tokens = makeTokens();
    await issue(tokens, 'right');
    const [, second] = tokens;
    if (second === undefined) throw new Error('There are three.');
    second.valid = 'wrong';
    const { db, servers } = clientOf(tokens);

    await insert(db, 'beside a wrong token');
    for (let n = 0; n < 6; n++) await db('notes').count();
    const known = await awaitHost(db, 'replica-1', ({ state }) => state === 'down');

    expect(new Set(servers())).toEqual(new Set(['primary', 'replica-2']));
    expect(known.reason).toMatch(/password authentication failed/);
    second.valid = 'right for token_2';
    await awaitHost(db, 'replica-1', ({ state }) => state === 'up');
    expect(new Set(Object.values(hostStates(db)))).toEqual(new Set(['up']));
  });
});

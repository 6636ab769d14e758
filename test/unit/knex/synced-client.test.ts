import { describe, expect, it } from '@jest/globals';
import { runQuery } from '../../../lib/hosts/run-query.ts';
import type { Driver, QueryCallback } from '../../../lib/knex/pg-driver.ts';
import { syncedClient } from '../../../lib/knex/synced-client.ts';
import { syncOf } from '../../../lib/state/connection-sync.ts';
import { SessionStates } from '../../../lib/state/session-states.ts';

interface Bench {
  readonly client: InstanceType<Driver['Client']>;
  readonly states: SessionStates;
  readonly sent: unknown[];
  readonly isSpoilt: () => boolean;
  readonly isClosed: () => boolean;
}

function bench(): Bench {
  const sent: unknown[] = [];
  const spoilt = new Set<object>();
  class Client {
    query(query: unknown, done?: unknown): unknown {
      sent.push(query);
      const rows: unknown[] = [];
      if (typeof done === 'function') (done as QueryCallback)(null, { rows });
      return undefined;
    }
  }
  const Synced = syncedClient(
    { Client },
    (connection) => spoilt.add(connection),
    () => undefined,
  );
  const client = new Synced({});
  const states = new SessionStates();
  states.use();
  const isSpoilt = (): boolean => spoilt.has(client);
  const isClosed = (): boolean => isSpoilt() && '__knex__disposed' in client;
  return { client, states, sent, isSpoilt, isClosed };
}

const unheard: readonly (readonly [unknown, boolean])[] = [
  ['set role none', true],
  ["select set_config('app.tenant', 'x', false)", true],
  ['begin', true],
  ['call app.report()', true],
  ['insert into t values (1)', true],
  ['select 1; begin', true],
  [{ text: 'create temp table whose ()' }, true],
  [{ submit: () => undefined }, true],
  ['select 1', false],
  [{ text: ' SELECT current_user;' }, false],
];

describe('syncedClient', () => {
  it.each(unheard)('is closed after %j, which nobody is there for: %s', (query, expected) => {
    const { client, states, sent, isClosed } = bench();
    states.want(client);
    states.leave(client);

    client.query(query);

    expect(sent).toEqual([query]);
    expect(isClosed()).toBe(expected);
  });

  it('is not closed for what is sent before its first use', () => {
    const { client, isClosed } = bench();

    client.query('set role none');

    expect(isClosed()).toBe(false);
  });

  it('is not closed for what its next user sends', () => {
    const { client, states, isClosed } = bench();
    states.want(client);
    states.leave(client);
    states.want(client);

    client.query('begin');

    expect(isClosed()).toBe(false);
  });

  it.each([true, false])(
    'is not closed for the names in a statement of our own, in any state: %s',
    async (isInAnyState) => {
      const { client, states, sent, isSpoilt } = bench();
      states.want(client);

      await runQuery(client, { text: "select 'set_config', 'query_to_xml'" }, isInAnyState);

      expect(sent).toHaveLength(1);
      expect(isSpoilt()).toBe(false);
      expect(states.mayHaveLeftovers(client)).toBe(false);
    },
  );

  it.each([
    ['do $$ declare a int; begin end $$', false],
    ['call app.load()', false],
    ["do $$ begin perform set_config('statement_timeout', '1', false); end $$", true],
    ['select "rank"&"rank" from t', false],
    ['select U&"n\\0061me" from t', false],
    ["select set_config('app.tenant', 'x', false)", false],
  ])(
    'is closed for what Knex sends only if it is code, and changes it unseen: %s, %s',
    (text, expected) => {
      const { client, states, isSpoilt } = bench();
      states.want(client);
      syncOf(client)?.known.began([
        ['role', 'none'],
        ['search_path', 'public'],
      ]);

      states.sendOfKnex(client, () => client.query(text));

      expect(isSpoilt()).toBe(expected);
    },
  );
});

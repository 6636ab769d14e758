import { describe, expect, it } from '@jest/globals';
import { namedStatementsOf } from '../../../lib/knex/named-statements.ts';
import { FakeNamingClient, fakeNames } from '../../support/fake-naming-client.ts';

describe('NamedStatements', () => {
  it.each([false, true])(
    'closes the one used longest ago on the way of a new one (old pg: %p)',
    (isOld) => {
      const { client, names } = fakeNames(isOld);
      const send = (name: string): string => names.send(name, 2, 0, 1, () => client.query(name));

      for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) expect(send(name)).toBe(name);

      const sent =
        '{ parse a a } { parse b b } a { close S b parse c c } a { close S c parse b b }';
      // pg 8.0 would overwrite what is held back.
      expect(client.sent.join(' ')).toBe(isOld ? sent.replaceAll(/[{}] ?/g, '').trim() : sent);
      expect(Object.keys(client.connection.parsedStatements).toSorted()).toEqual(['a', 'b']);
    },
  );

  it('prepares again what was prepared too long ago', () => {
    const { client, names } = fakeNames();

    names.send('a', 2, 0, 10, () => client.query('a'));
    names.send('a', 2, 9, 11, () => client.query('a'));
    names.send('a', 2, 10, 12, () => client.query('a'));
    names.send('a', 2, 10, 13, () => client.query('a'));

    expect(client.sent.join(' ')).toBe('{ parse a a } a { close S a parse a a } a');
  });

  it('gives the stream free where sending throws', () => {
    const { client, names } = fakeNames();

    const fails = (): never => {
      throw new Error('no');
    };

    expect(() => names.send('a', 2, 0, 1, fails)).toThrow('no');
    expect(client.sent).toEqual(['{', '}']);
  });

  it('forgets all without a word to the server', () => {
    const { client, names } = fakeNames();
    client.connection.parsedStatements['own'] = 'a text of the application';
    names.send('a', 2, 0, 1, () => client.query('a'));
    names.forget();
    names.send('a', 2, 0, 1, () => client.query('a'));

    expect(client.sent.join(' ')).toBe('{ parse a a } { parse a a }');
    expect(Object.keys(client.connection.parsedStatements)).toEqual(['own', 'a']);
  });

  it.each([
    [true, 'idle', {}],
    [true, 'one whose driver tells no status', { status: null }],
    [false, 'busy', { readyForQuery: false }],
    [true, 'busy, with what may follow at once', { readyForQuery: false, pipeline: true }],
    [false, 'in a transaction', { status: 'T' }],
    [false, 'in a failed transaction', { status: 'E' }],
  ])('says %p of a connection that is %s', (expected, _, state) => {
    const { client, names } = fakeNames();
    Object.assign(client, state);

    expect(names.areUsable).toBe(expected);
  });

  it.each([false, true])('knows by the bound values what may have run (old pg: %p)', (isOld) => {
    const { client, names } = fakeNames(isOld);
    names.send('a', 2, 0, 1, () => client.query('a'));
    const seen = [names.mayHaveRun];
    client.begin('');
    client.connection.emit('bindComplete');
    seen.push(names.mayHaveRun);
    client.begin('a');
    client.connection.emit('bindComplete');
    seen.push(names.mayHaveRun);
    names.send('a', 2, 0, 1, () => client.query('a'));
    seen.push(names.mayHaveRun);

    expect(seen).toEqual([false, false, true, false]);
  });

  it('is one for each connection, and none for another driver', () => {
    const client = new FakeNamingClient();

    expect(namedStatementsOf(client)).toBe(namedStatementsOf(client));
    expect(client.connection.listenerCount('bindComplete')).toBe(1);
    expect(namedStatementsOf({ query: () => undefined })).toBeNull();
    expect(namedStatementsOf({ connection: {} })).toBeNull();
  });
});

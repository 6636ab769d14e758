import { describe, expect, it } from '@jest/globals';
import type { ProbeAnswer } from '../../support/fake-probe-client.ts';
import { FakeProbeClient, serverError } from '../../support/fake-probe-client.ts';
import { probeParts } from '../../../lib/monitor/probe-parts.ts';
import { ProbeStatement } from '../../../lib/monitor/probe-statement.ts';

const everything = probeParts.length;

/** A statement, and a list of how many columns each text that it sent has had. */
function statement(answer: ProbeAnswer): { probe: ProbeStatement; columns: () => number[] } {
  const client = new FakeProbeClient(answer);
  const probe = new ProbeStatement(async (query) => {
    const result = await client.query(query);
    return 'rows' in result ? result : result.at(-1);
  });
  const columns = (): number[] => client.texts.splice(0).map((text) => aliases(text).length);
  return { probe, columns };
}

function aliases(text: string): string[] {
  return [...text.matchAll(/as "(\w+)"/g)].map(([, name = '']) => name);
}

/** Answers each column with `x`. */
function answerAll(text: string): { rows: object[] } {
  return { rows: [Object.fromEntries(aliases(text).map((name) => [name, 'x']))] };
}

function refusing(pattern: RegExp, code: string): ProbeAnswer {
  return (text) => {
    if (pattern.test(text)) throw serverError(code);
    return answerAll(text);
  };
}

describe('ProbeStatement', () => {
  it('asks everything at once, marked as its own', async () => {
    const client = new FakeProbeClient(answerAll);
    const probe = new ProbeStatement(async (query) => (await client.query(query)) as never);

    const answers = await probe.ask();

    expect(Object.keys(answers)).toEqual(probeParts);
    expect(client.texts).toEqual([expect.stringMatching(/^\/\* knex-rwsplit probe \*\/ select /)]);
  });

  it.each(['42883', '42501', '0A000', 'XX000'])(
    'finds out part by part what the server refuses with %s, and leaves that out',
    async (code) => {
      const { probe, columns } = statement(refusing(/pg_control_/, code));

      const first = await probe.ask();
      const asked = columns();
      const second = await probe.ask();

      expect(asked).toEqual([everything, ...probeParts.map(() => 1)]);
      expect(columns()).toEqual([everything - 2]);
      for (const answers of [first, second]) {
        expect(Object.keys(answers)).toEqual(
          probeParts.filter((part) => !/systemId|checkpoint/.test(part)),
        );
      }
    },
  );

  it('is content with the role', async () => {
    const { probe, columns } = statement((text) => {
      if (!/select pg_catalog.pg_is_in_recovery\(\) as "isInRecovery"$/.test(text)) {
        throw serverError('42883');
      }
      return answerAll(text);
    });

    const answers = [await probe.ask(), await probe.ask()];

    expect(answers).toEqual([{ isInRecovery: 'x' }, { isInRecovery: 'x' }]);
    expect(columns().at(-1)).toBe(1);
  });

  it('is content with a sign of life', async () => {
    const { probe, columns } = statement(refusing(/pg_catalog/, '42883'));

    const answers = [await probe.ask(), await probe.ask()];

    expect(answers).toEqual([{}, {}]);
    expect(columns()).toEqual([everything, ...probeParts.map(() => 1), 0, 0]);
  });

  it('rejects where not even that is given', async () => {
    const { probe } = statement(refusing(/select/, '42501'));

    await expect(probe.ask()).rejects.toThrow('ERROR 42501');
  });

  it('asks again what met a promotion', async () => {
    const races = [serverError('55000'), serverError('55000')];
    const { probe, columns } = statement((text) => {
      const race = races.shift();
      if (race !== undefined) throw race;
      return answerAll(text);
    });

    const answers = await probe.ask();

    expect(Object.keys(answers)).toEqual(probeParts);
    expect(columns()).toEqual([everything, everything, everything]);
  });

  it('does without a part that always fails for the moment, and tries it again next time', async () => {
    const { probe, columns } = statement(refusing(/replay_paused/, '55000'));

    const answers = await probe.ask();
    columns();
    await probe.ask();

    expect(Object.keys(answers)).toHaveLength(everything - 1);
    expect(columns()[0]).toBe(everything);
  });

  it('leaves out at last what has failed for the moment each time', async () => {
    const { probe, columns } = statement(refusing(/replay_paused/, '55000'));

    for (let asked = 0; asked < 3; asked++) await probe.ask();
    columns();
    await probe.ask();

    expect(columns()).toEqual([everything - 1]);
  });

  it('lifts the time limit that it has met', async () => {
    const client = new FakeProbeClient((text) => {
      if (!text.includes('set local statement_timeout = 0;')) throw serverError('57014');
      return [{ rows: [] }, answerAll(text)];
    });
    const probe = new ProbeStatement(async (query) => {
      const results = await client.query(query);
      return 'rows' in results ? results : results.at(-1);
    });

    const answers = await probe.ask();

    expect(Object.keys(answers)).toEqual(probeParts);
    expect(client.texts).toHaveLength(2);
  });

  it.each([
    ['a lost connection', new Error('Connection terminated unexpectedly')],
    ['the end of its session', serverError('57P01', 'FATAL')],
  ])('takes %s for no answer of any part', async (_, error) => {
    const { probe, columns } = statement(() => {
      throw error;
    });

    await expect(probe.ask()).rejects.toBe(error);
    expect(columns()).toEqual([everything]);
  });

  it('ends with a connection that is lost between the parts', async () => {
    const error = new Error('Connection terminated unexpectedly');
    const { probe } = statement((text) => {
      if (text.endsWith('as "processId"')) throw error;
      throw serverError('42883');
    });

    await expect(probe.ask()).rejects.toBe(error);
  });
});

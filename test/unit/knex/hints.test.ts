import { describe, expect, it } from '@jest/globals';
import { useFakePositions } from '../../support/fake-positions.ts';

const make = useFakePositions();

describe('The consistency of a hint', () => {
  it.each<[string, string[]]>([
    ['session', ['replica: REPLAYED', 'primary: select']],
    ['eventual', ['replica: select']],
    ['strong', ['primary: select']],
  ])('holds for one query: %s', async (consistency, sent) => {
    const servers = await make();
    await servers.db('t').insert({ a: 1 });
    servers.sent();

    await servers.db('t').queryContext({ rwSplit: { consistency } });

    expect(servers.sent()).toEqual(sent);
  });

  it.each([
    [{ consistency: 'weak' }, /consistency is "weak"; it must be one of session, eventual, strong/],
    [{ consistency: 'toString' }, /it must be one of session/],
    [{ consistency: 1 }, /it must be a string/],
    [{ consistent: 'strong' }, /a hint has target, host, tag and consistency/],
  ])('is refused unless it is one: %o', async (rwSplit, message) => {
    const { db } = await make();

    await expect(db('t').queryContext({ rwSplit })).rejects.toThrow(message);
  });
});

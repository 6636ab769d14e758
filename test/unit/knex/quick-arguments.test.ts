import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { positionQuestion } from '../../../lib/knex/position-query.ts';
import { quickArguments, quickQueries } from '../../../lib/knex/quick-arguments.ts';

const { Query } = Client as unknown as { Query: Parameters<typeof quickQueries>[0] };
const quick = quickQueries(Query);
const done = (): void => undefined;
const text = 'select $1';

describe('quickArguments', () => {
  it.each<[string, readonly unknown[]]>([
    ['a text alone', [text]],
    ['a text with a callback', [text, done]],
    ['nothing', []],
    ['null', [null, done]],
    ['more than a text and its values', [{ text, values: [], rowMode: 'array' }, done]],
    ['a name that is none', [{ text, values: [], name: 1 }, done]],
    ['a text without values', [{ text }, done]],
    ['values that are none', [{ text, values: 'one' }, done]],
    ['a query whose promise is wanted', [{ text, values: [] }]],
    ['values in their own place', [{ text, values: [] }, [1], done]],
    ['a query of the driver', [new Query(text), done]],
    ['a question whose promise is wanted', [positionQuestion(text)]],
  ])('leaves %s as it is', (_, args) => {
    expect(quickArguments(quick, args)).toBe(args);
  });

  it.each([
    ['a text and its values, as they come from Knex', { text, values: [1] }],
    ['what is prepared by name', { text, values: [1], name: 'one' }],
  ])('makes a query of the driver of %s', (_, given) => {
    const [query, ...more] = quickArguments(quick, [given, done]);

    expect(more).toEqual([]);
    expect(query).toBeInstanceOf(Query);
    expect(query).toMatchObject({ ...given, callback: done });
  });

  it('makes a query of the driver of a question about a position', () => {
    const [query, callback] = quickArguments(quick, [positionQuestion('select 1 as lsn'), done]);

    expect(query).toBeInstanceOf(Query);
    expect([query, callback]).toEqual([expect.objectContaining({ text: 'select 1 as lsn' }), done]);
  });

  it('asks about a position in one buffer, without a description of its columns', () => {
    const [query] = quickArguments(quick, [positionQuestion('select 1 as lsn'), done]);
    const written: Buffer[] = [];

    (query as InstanceType<typeof quick.Position>).submit({
      stream: { write: (bytes) => written.push(bytes as Buffer) },
    });

    expect(written.map(typesOf)).toEqual(['PBES']);
  });
});

/** The types of the messages in a buffer. */
function typesOf(bytes: Buffer): string {
  const [type] = bytes.toString('latin1');
  return type === undefined ? '' : type + typesOf(bytes.subarray(1 + bytes.readUInt32BE(1)));
}

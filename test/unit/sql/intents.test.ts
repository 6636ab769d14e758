import { describe, expect, it } from '@jest/globals';
import type { Resolution } from '../../../lib/sql/resolution.ts';
import { type FunctionOptions, Intents } from '../../../lib/sql/intents.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const harmless: Resolution = { danger: undefined, unknown: [], expiresAt: 60_000 };

interface Setup {
  readonly functions?: FunctionOptions;
  readonly answer?: () => Promise<Resolution>;
  readonly max?: number;
  readonly maxCharacters?: number;
}

function setUp({ answer = async () => harmless, ...options }: Setup = {}): {
  readonly intents: Intents;
  readonly asked: string[];
  readonly positioned: string[];
  readonly pass: (millis: number) => void;
  readonly clears: () => number;
} {
  const asked: string[] = [];
  const positioned: string[] = [];
  const clock = new FakeClock();
  let cleared = 0;
  const intents = new Intents({
    ...options,
    clock,
    catalog: {
      resolve: (lookups, key, options) => {
        options?.onSent?.();
        asked.push(`${key}:${lookups.relations.map(({ name }) => name).join(',')}`);
        return answer();
      },
      clear: () => void cleared++,
    },
    position: (text) => {
      positioned.push(text);
      let n = 0;
      return text.replaceAll('?', () => `$${++n}`);
    },
  });
  return {
    intents,
    asked,
    positioned,
    clears: () => cleared,
    pass: (millis) => clock.advance(millis),
  };
}

const list = (n: number): string =>
  `select * from t where id in (${Array.from({ length: n }, () => '?').join(', ')})`;

describe('Intents', () => {
  it('knows nothing at first, and a text from its second run on', async () => {
    const { intents, asked } = setUp();

    expect(intents.known('select * from t')).toBeUndefined();
    const verdict = await intents.resolve('select * from t');

    expect(verdict).toMatchObject({ intent: 'read', proved: true });
    expect(intents.known('select * from t')).toBe(verdict);
    expect(asked).toEqual([':t']);
    expect(Object.isFrozen(verdict)).toBe(true);
  });

  it('asks the catalog nothing where there is nothing to ask', async () => {
    const { intents, asked } = setUp();

    await intents.resolve('select 1');
    await intents.resolve('insert into t values (f(1))');

    expect(asked).toEqual([]);
  });

  it('asks the catalog once for runs of a text that begin together', async () => {
    const { intents, asked } = setUp();

    await Promise.all([1, 2, 3].map(() => intents.resolve('select * from t')));

    expect(asked).toHaveLength(1);
  });

  it('judges texts with placeholders', async () => {
    const { intents } = setUp();

    expect(await intents.resolve('select * from t where a = ?')).toMatchObject({ intent: 'read' });
  });

  it('shares a verdict among texts that differ only in the length of a list', async () => {
    const { intents, positioned } = setUp();

    const verdict = await intents.resolve(list(3));

    expect([list(2), list(7), list(1000), list(10_000)].map((text) => intents.known(text))).toEqual(
      [verdict, verdict, verdict, verdict],
    );
    expect(positioned).toEqual([list(2)]);
  });

  it('goes to the primary for this run only where the catalog is late', async () => {
    const late: { settle?: (resolution: Resolution) => void } = {};
    const { intents, pass } = setUp({
      answer: () => new Promise((settle) => (late.settle = settle)),
    });
    await intents.resolve('select 1');

    const verdict = intents.resolve('select * from t');
    await new Promise(setImmediate);
    pass(200);

    expect(await verdict).toMatchObject({ intent: 'write', proved: false });
    expect(intents.known('select * from t')).toBeUndefined();
    late.settle?.(harmless);
  });

  it('does not wait again and again for a catalog that does not answer', async () => {
    const { intents, asked, pass } = setUp({ answer: () => Promise.reject(new Error('down')) });

    for (const table of ['a', 'b', 'c']) {
      const verdict = await intents.resolve(`select * from ${table}`);
      expect(verdict).toMatchObject({ intent: 'write', proved: false });
    }
    expect(asked).toEqual([':a']);
    pass(1000);
    await intents.resolve('select * from d');

    expect(asked).toEqual([':a', ':d']);
  });

  it('asks the catalog again once its answer has expired', async () => {
    const { intents, asked, positioned, pass } = setUp();

    await intents.resolve('select * from t');
    pass(60_000);

    expect(intents.known('select * from t')).toBeUndefined();
    await intents.resolve('select * from t');
    expect(asked).toHaveLength(2);
    expect(positioned).toHaveLength(1);
  });

  it('looks names up again ahead of time, so that a text in use never waits', async () => {
    let expiresAt = 60_000;
    const { intents, asked, pass } = setUp({ answer: async () => ({ ...harmless, expiresAt }) });
    await intents.resolve('select * from t');
    expiresAt = 110_000;

    pass(46_000);
    expect(intents.known('select * from t')).toMatchObject({ intent: 'read' });
    expect(intents.known('select * from t')).toMatchObject({ intent: 'read' });
    expect(asked).toHaveLength(2);
    await Promise.resolve();

    pass(20_000);
    expect(intents.known('select * from t')).toMatchObject({ intent: 'read' });
    expect(asked).toHaveLength(2);
  });

  it('tries again to look names up ahead of time, until they expire', async () => {
    const answers = [async () => harmless, async () => Promise.reject(new Error('away'))];
    const { intents, asked, pass } = setUp({
      answer: async () => (answers.length > 1 ? answers.shift() : answers[0])?.() ?? harmless,
    });
    await intents.resolve('select * from t');

    for (const millis of [46_000, 500, 600]) {
      pass(millis);
      intents.known('select * from t');
      await new Promise(setImmediate);
    }

    expect(asked).toHaveLength(3);
    pass(60_000);
    expect(intents.known('select * from t')).toBeUndefined();
  });

  it('never forgets a verdict that no catalog was asked for', async () => {
    const { intents, pass } = setUp();

    await intents.resolve('select 1');
    pass(1e9);

    expect(intents.known('select 1')).toMatchObject({ intent: 'read' });
  });

  it('forgets what the catalog said when told of DDL', async () => {
    const { intents, clears } = setUp();

    await intents.resolve('select * from t');
    intents.forget();

    expect(intents.known('select * from t')).toBeUndefined();
    expect(clears()).toBe(1);
  });

  it('does not keep an answer that was under way when told of DDL', async () => {
    const { intents } = setUp();
    await intents.resolve('select 1');

    const underWay = intents.resolve('select * from t');
    await new Promise<void>((done) => queueMicrotask(done));
    intents.forget();
    await underWay;

    expect(intents.known('select * from t')).toBeUndefined();
  });

  it('keeps databases, roles and search paths apart', async () => {
    const { intents, asked } = setUp();

    await intents.resolve('select * from t', 'a');

    expect(intents.known('select * from t', 'b')).toBeUndefined();
    await intents.resolve('select * from t', 'b');
    expect(asked).toEqual(['a:t', 'b:t']);
  });

  it('gives the reason that the catalog gives', async () => {
    const { intents } = setUp({ answer: async () => ({ ...harmless, danger: 'calls f' }) });

    expect(await intents.resolve('select f()')).toEqual({
      intent: 'write',
      proved: false,
      reason: 'calls f',
      changesCatalog: false,
    });
  });

  it.each([
    ['primary', { intent: 'write', proved: false, reason: 'unknown function f' }],
    ['replica', { intent: 'read' }],
  ] as const)('sends unknown functions to the %s where told so', async (unknown, expected) => {
    const { intents } = setUp({
      functions: { unknown },
      answer: async () => ({ ...harmless, unknown: ['f'] }),
    });

    expect(await intents.resolve('select f()')).toMatchObject(expected);
  });

  it('believes the lists of the user', async () => {
    const { intents, asked } = setUp({ functions: { read: ['f'], write: ['g'] } });

    expect(await intents.resolve('select f()')).toMatchObject({ intent: 'read' });
    expect(await intents.resolve('select g()')).toMatchObject({ intent: 'write', proved: true });
    expect(asked).toEqual([]);
  });

  it('remembers no more texts than it may', async () => {
    const { intents } = setUp({ max: 2 });

    for (const text of ['select 1', 'select 2', 'select 3']) await intents.resolve(text);

    expect(intents.known('select 1')).toBeUndefined();
    expect(intents.known('select 3')).toBeDefined();
  });

  it('remembers no more characters than it may', async () => {
    const { intents } = setUp({ maxCharacters: 100 });

    await intents.resolve(`select '${'a'.repeat(60)}'`);
    await intents.resolve(`select '${'b'.repeat(60)}'`);

    expect(intents.known(`select '${'a'.repeat(60)}'`)).toBeUndefined();
    expect(intents.known(`select '${'b'.repeat(60)}'`)).toBeDefined();
  });

  it('sends texts over 32 KiB to the primary and does not remember them', async () => {
    const { intents, positioned } = setUp();
    const text = `select '${'x'.repeat(33_000)}'`;

    expect(await intents.resolve(text)).toMatchObject({ intent: 'write', proved: false });
    expect(intents.known(text)).toBeUndefined();
    expect(positioned).toEqual([]);
  });
});

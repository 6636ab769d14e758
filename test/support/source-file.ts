import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** A file of the repository, as the tests of its rules see it. */
export interface SourceFile {
  /** From the root of the repository, e.g. `lib/hosts/pool.ts`. */
  readonly path: string;
  readonly text: string;
  /** Without comments. */
  readonly code: string;
  /** What it imports: a path from the root for its own files, a specifier for packages. */
  readonly imports: readonly string[];
}

/** The root of the repository. */
export const root: string = join(__dirname, '../..');

/** Every TypeScript file under a folder of the repository; none where the folder is missing. */
export function sourceFiles(folder: string): readonly SourceFile[] {
  if (!existsSync(join(root, folder))) return [];

  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?ts$/.test(name))
    .map((name) => sourceFile(`${folder}/${name.replaceAll('\\', '/')}`))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function sourceFile(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const code = text
    .replaceAll(/\/\*[^]*?\*\//g, '')
    // Not the slashes of a URL.
    .replaceAll(/(?<!:)\/\/.*$/gm, '');
  const imports = [
    ...code.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire(?:\.resolve)?\()\s*'([^']+)'/g),
  ].map(([, specifier = '']) =>
    specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier,
  );
  return { path, text, code, imports };
}

/** The name of the package that a specifier belongs to: `knex` of `knex/lib/client.js`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

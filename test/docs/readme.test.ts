import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { root } from '../support/source-file.ts';

/** A fenced block of code, and the example that it says it quotes. */
interface Snippet {
  readonly page: string;
  readonly line: number;
  readonly example: string | undefined;
  readonly code: string;
}

const pages = ['.', 'docs']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => posix.join(folder, name)))
  .filter((path) => path.endsWith('.md'));

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function snippetsOf(page: string): readonly Snippet[] {
  const fence =
    /(?:^<!-- (\S+) -->\n+)?^```(?:[cm]?[jt]sx?|javascript|typescript)\b.*\n([^]*?)^```$/gm;
  const text = read(page);
  return [...text.matchAll(fence)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    example: match[1],
    code: match[2] ?? '',
  }));
}

describe('snippets of the documentation', () => {
  it.each(pages)('%s quotes examples word for word', (page) => {
    for (const { line, example, code } of snippetsOf(page)) {
      const where = `${page}:${line}`;
      // Only an example is run by a test: <!-- examples/name.ts --> goes before the block.
      expect({ where, example }).toEqual({
        where,
        example: expect.stringMatching(/^examples\/.+\.m?ts$/),
      });
      expect({ where, code }).toEqual({ where, code: read(String(example)) });
    }
  });

  it.each(pages)('%s has a block of code after each marker', (page) => {
    const markers = read(page).match(/^<!-- examples\/\S+ -->$/gm) ?? [];

    const quoted = snippetsOf(page).filter(({ example }) => example !== undefined);

    expect(quoted.map(({ example }) => `<!-- ${example} -->`)).toEqual(markers);
  });
});

describe('links of the documentation', () => {
  it.each(pages)('%s links to files that exist', (page) => {
    const targets = [...read(page).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(
      ([, path]) => join(root, page, '..', path ?? ''),
    );

    expect(targets.filter((target) => !existsSync(target))).toEqual([]);
  });
});

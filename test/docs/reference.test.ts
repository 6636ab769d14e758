import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { root } from '../support/source-file.ts';

const index = readFileSync(join(root, 'lib/index.ts'), 'utf8');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** What a source file says that a pattern finds. */
function named(path: string, pattern: RegExp): readonly string[] {
  const found = readFileSync(join(root, path), 'utf8').matchAll(pattern);
  return [...found].map(([, name = '']) => name);
}

function firstCells(): readonly string[] {
  return [...readme.matchAll(/^\| `([^`]+)`/gm)].map(([, cell = '']) => cell.replaceAll("'", ''));
}

describe('README.md', () => {
  it.each(named('lib/errors.ts', /^ {2}\| '(\w+)'/gm))('has a row for the error %s', (code) => {
    expect(firstCells()).toContain(code);
  });

  it.each(named('lib/events.ts', /^ {2}'?([\w:]+)'?: \[/gm))(
    'has a row for the event %s',
    (event) => {
      expect(firstCells()).toContain(event);
    },
  );

  it.each(named('lib/knex/debug.ts', /createDebug\('([\w:]+)'\)/g))(
    'names what DEBUG=%s prints',
    (namespace) => {
      expect(readme).toContain(`\`${namespace}\``);
    },
  );

  it('stays under 330 lines, and shows a whole program within the first 40', () => {
    expect(readme.split('\n').length).toBeLessThan(330);
    expect(readme.split('\n').slice(0, 40).join('\n')).toMatch(/^```ts\n[^]+?\n```$/m);
  });
});

describe('lib/index.ts', () => {
  it.each(named('lib/events.ts', /^export interface (\w+Event) \{/gm))(
    'lets applications name what a listener gets: %s',
    (type) => {
      expect(index).toMatch(new RegExp(`\\b${type}\\b`));
    },
  );
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { root } from '../support/source-file.ts';

const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};

function headings(level: string): readonly string[] {
  return changelog
    .split('\n')
    .filter((line) => line.startsWith(`${level} `))
    .map((line) => line.slice(level.length + 1));
}

describe('CHANGELOG.md', () => {
  it('has one title', () => {
    expect(headings('#')).toEqual(['Changelog']);
  });

  it('dates every version', () => {
    for (const heading of headings('##')) {
      expect(heading).toMatch(/^\[(Unreleased|\d+\.\d+\.\d+(-[\w.]+)?\] - \d{4}-\d\d-\d\d$)/);
    }
  });

  it('knows the version of the package, or has unreleased changes', () => {
    const known = headings('##').map((heading) => heading.replace(/^\[(.*?)\].*$/, '$1'));

    expect(known.some((name) => name === version || name === 'Unreleased')).toBe(true);
  });

  it('puts the latest version first', () => {
    const dates = headings('##').map((heading) => heading.split(' - ')[1] ?? '9999-12-31');

    expect(dates).toEqual(dates.toSorted().toReversed());
  });

  it('sorts changes by kind', () => {
    const kinds = new Set(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']);

    expect(headings('###').filter((heading) => !kinds.has(heading))).toEqual([]);
  });

  it('leaves no kind of change empty', () => {
    expect(changelog).not.toMatch(/^### .*\n+(?=#|$(?![^]))/m);
  });
});

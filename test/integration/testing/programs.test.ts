import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { preparePrograms, type Programs } from '../../../lib/testing/programs.ts';
import { serverAccount } from '../../../lib/testing/server-account.ts';
import { findServerPackage } from '../../../lib/testing/server-package.ts';

const account = serverAccount();
const folder = mkdtempSync(join(tmpdir(), 'programs-'));
chmodSync(folder, 0o755);

const obstructed = join(folder, 'obstructed/native/lib');

afterAll(() => {
  chmodSync(obstructed, 0o755);
  rmSync(folder, { recursive: true, force: true });
});

/** Installs the server package as npm does where it may run no scripts: without links. */
function installWithoutScripts(name: string): string {
  const installed = join(folder, name);
  cpSync(findServerPackage(), installed, {
    recursive: true,
    filter: (path) => !lstatSync(path).isSymbolicLink(),
  });
  return installed;
}

function versionsOf({ initdb, postgres }: Programs): string[] {
  return [initdb, postgres].map((program) =>
    execFileSync(program, ['--version'], { ...account, cwd: '/', encoding: 'utf8' }).trim(),
  );
}

const versions = [
  expect.stringMatching(/^initdb \(PostgreSQL\) \d/),
  expect.stringMatching(/^postgres \(PostgreSQL\) \d/),
];

describe('preparePrograms', () => {
  it('makes the links that an install without scripts lacks', async () => {
    const installed = installWithoutScripts('linkable');
    const unused = join(folder, 'unused');

    const programs = await preparePrograms(installed, unused, account);

    expect(versionsOf(programs)).toEqual(versions);
    expect(programs.postgres).toBe(join(installed, 'native/bin/postgres'));
    expect(existsSync(unused)).toBe(false);
  });

  it('uses a copy where the installed programs cannot be linked or reached', async () => {
    const installed = installWithoutScripts('obstructed');
    const copy = join(folder, 'copy');
    // Root is stopped by no permission, but the account that it must use for servers is.
    if (account === undefined) chmodSync(obstructed, 0o555);
    else chmodSync(installed, 0o700);

    const programs = await preparePrograms(installed, copy, account);

    expect(versionsOf(programs)).toEqual(versions);
    expect(programs.postgres).toBe(join(copy, 'bin/postgres'));
    expect(programs.haveStatementStatistics).toBe(true);
  });
});

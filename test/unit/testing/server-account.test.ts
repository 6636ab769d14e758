import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { canReach, serverAccount } from '../../../lib/testing/server-account.ts';

const nobody = { uid: 65_534, gid: 65_534 };
const root = mkdtempSync(join(tmpdir(), 'server-account-'));
const inner = join(root, 'a/b');
mkdirSync(inner, { recursive: true });

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('serverAccount', () => {
  it('is another user only where this one is root', () => {
    expect(serverAccount()).toEqual(process.getuid?.() === 0 ? nobody : undefined);
  });
});

describe('canReach', () => {
  it.each([
    [0o755, true],
    [0o711, true],
    [0o700, false],
    [0o750, false],
  ])('looks at every folder above: with mode %o, %s', (mode, expected) => {
    chmodSync(root, mode);

    expect(canReach(nobody, inner)).toBe(expected);
  });

  it('leaves the own user to the operating system', () => {
    chmodSync(root, 0o700);

    expect(canReach(undefined, inner)).toBe(true);
  });
});

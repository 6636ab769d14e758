import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { childrenOf, signalAll, stillRunning } from '../../../lib/testing/process-table.ts';
import { Watchdog } from '../../../lib/testing/watchdog.ts';

const sleepers = ['guarded', 'released'].map(() =>
  spawn(process.execPath, ['-e', 'setInterval(() => undefined, 60_000)'], { stdio: 'ignore' }),
);

afterAll(() => {
  for (const sleeper of sleepers) sleeper.kill('SIGKILL');
});

describe('Watchdog', () => {
  it('ends what it guards, even suspended, and removes the folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'watchdog-'));
    const watchdog = new Watchdog(folder);
    const [guarded = 0, released = 0] = sleepers.map(({ pid }) => pid ?? 0);
    watchdog.guard(guarded, released);
    watchdog.release(released);
    signalAll([guarded], 'SIGSTOP');

    await watchdog.finish();

    expect(stillRunning([guarded, released])).toEqual([released]);
    expect(existsSync(folder)).toBe(false);
    await expect(watchdog.finish()).resolves.toBeUndefined();
  });

  it('says what is left where it was ended itself', async () => {
    const before = new Set(childrenOf(process.pid));
    const folder = join(tmpdir(), 'watchdog-that-ends');
    const watchdog = new Watchdog(folder);
    const started = childrenOf(process.pid).filter((pid) => !before.has(pid));

    signalAll(started, 'SIGKILL');

    await expect(watchdog.finish()).rejects.toThrow(`remove ${folder}`);
    expect(() => watchdog.guard(1)).not.toThrow();
  });
});

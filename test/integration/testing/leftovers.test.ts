import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from '@jest/globals';
import { stillRunning } from '../../../lib/testing/process-table.ts';
import { until } from '../../../lib/testing/until.ts';
import { holdCluster } from '../../support/hold-cluster.ts';
import { inLong } from '../../support/long.ts';

const temporary = mkdtempSync(join(tmpdir(), 'leftovers-'));
chmodSync(temporary, 0o755);

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

function clusterFolders(): string[] {
  return readdirSync(temporary).filter((name) => name.startsWith('knex-rwsplit-'));
}

function reportedPids(line: unknown): number[] {
  return String(line).match(/\d+/g)?.map(Number) ?? [];
}

async function ended(child: ChildProcess): Promise<unknown> {
  const [code, signal] = await once(child, 'exit');
  return signal ?? code;
}

async function expectNothingLeft(pids: readonly number[]): Promise<void> {
  await until('every process has ended', 15_000, () => stillRunning(pids).length === 0);
  await until('every folder is removed', 15_000, () => clusterFolders().length === 0);
}

describe('Nothing stays behind', () => {
  it.each<[string, NodeJS.Signals]>([
    ['Ctrl-C', 'SIGINT'],
    ...inLong<[string, NodeJS.Signals]>(
      ['being killed', 'SIGKILL'],
      ['a request to end', 'SIGTERM'],
    ),
  ])('after %s, which ends the program as ever', async (_, signal) => {
    const child = holdCluster(temporary, { replicas: 1 });
    const [line] = await once(createInterface(child.stdout), 'line');
    const pids = reportedPids(line);
    const end = ended(child);

    expect(stillRunning(pids).length).toBeGreaterThan(2);
    expect(clusterFolders()).toHaveLength(1);
    child.kill(signal);

    await expect(end).resolves.toBe(signal);
    await expectNothingLeft(pids);
  });

  it('after an uncaught error', async () => {
    const child = holdCluster(temporary, { replicas: 1 }, 'throw');
    const end = ended(child);
    const [line] = await once(createInterface(child.stdout), 'line');

    await expect(end).resolves.toBe(1);
    await expectNothingLeft(reportedPids(line));
  });

  it('after an end in the midst of the start', async () => {
    const child = holdCluster(temporary, {});
    await until('the start has begun', 20_000, () => clusterFolders().length > 0);

    child.kill('SIGKILL');

    await expectNothingLeft([]);
  });

  it.each([
    ['initdb fails', { no_such: 'on' }, /initdb failed: .*unrecognized configuration parameter/s],
    ['a server cannot start', { ssl: 'on' }, /primary ended while starting.*server\.crt/s],
  ])('where %s, and the message says why', async (_, settings, message) => {
    const child = holdCluster(temporary, { replicas: 0, settings });
    const complaint = text(child.stderr);

    await expect(ended(child)).resolves.toBe(1);
    await expect(complaint).resolves.toMatch(message);
    await expectNothingLeft([]);
  });
});

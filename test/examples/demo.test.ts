import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { root } from '../support/source-file.ts';

interface Run {
  readonly exitCode: number | null;
  readonly stdout: string;
}

async function runDemo(seconds: number): Promise<Run> {
  const args = ['--import', 'tsx', join(root, 'examples/demo/main.ts')];
  const options = { cwd: root, env: { ...process.env, DEMO_SECONDS: String(seconds) } };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, options, (_, stdout) => {
      resolve({ exitCode: child.exitCode, stdout });
    });
  });
}

/** The counts of a line of the table, the primary's first. */
function counts(stdout: string, kind: string): readonly number[] {
  const summary = stdout.slice(stdout.indexOf('Statements by host'));
  const line = summary.split('\n').find((candidate) => candidate.startsWith(`  ${kind}  `));
  return (line ?? '')
    .slice(2 + kind.length)
    .trim()
    .split(/\s+/)
    .map(Number);
}

/** The number that the summary gives with these words. */
function said(stdout: string, words: string): number {
  const line = stdout.split('\n').find((candidate) => candidate.includes(words));
  return Number(line?.replace(/^ +(?:ok|NOT)? +/, '').split(' ')[0]);
}

const none = [
  'statements refused by a replica',
  'autocommit reads on the primary',
  'statements on a replica that belong to the primary',
  'other errors',
  'failed reads',
  'failed writes that nothing excuses',
  'failed writes (no primary came in time)',
  'acknowledged orders lost',
];

describe('examples/demo', () => {
  it('goes on while hosts come and go, with everything where it belongs', async () => {
    const { exitCode, stdout } = await runDemo(2);

    expect(stdout).not.toContain('NOT');
    expect(exitCode).toBe(0);
    expect(none.filter((words) => said(stdout, words) !== 0)).toEqual([]);
    expect(said(stdout, 'reads served while there was no primary')).toBeGreaterThan(0);
    // The demo itself waits for a second before it promotes.
    expect(said(stdout, 'seconds without a primary')).toBeGreaterThanOrEqual(1);

    expect(stdout).toMatch(
      /replica-1 was killed.*replica-1 was started again.*the primary was killed.*host:down +primary: .*replica-\d was promoted.*replica-\d follows replica-\d/s,
    );
    expect(stdout).toMatch(/host:role +replica-\d is the primary now/);

    const [reads = [], reports = [], writes = [], traps = []] = [
      'reads',
      'in read-only transactions',
      'writes',
      'traps',
    ].map((kind) => counts(stdout, kind));
    for (const onReplicas of [reads, reports]) {
      expect(onReplicas).toEqual([0, ...Array(3).fill(expect.any(Number))]);
      expect(Math.max(...onReplicas.slice(1, 3))).toBeGreaterThan(0);
    }
    for (const onPrimary of [writes, traps]) {
      expect(onPrimary).toEqual([expect.any(Number), 0, 0, expect.any(Number)]);
      expect(onPrimary[0]).toBeGreaterThan(0);
      expect(onPrimary[3]).toBeGreaterThan(0);
    }
  }, 90_000);
});

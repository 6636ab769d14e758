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

describe('examples/demo', () => {
  it('sends everything to where it belongs, by the logs of the servers', async () => {
    const { exitCode, stdout } = await runDemo(2);

    expect(stdout).toContain('ok    0 statements refused by a replica');
    expect(stdout).toContain('ok    0 autocommit reads on the primary');
    expect(stdout).not.toContain('NOT');
    expect(exitCode).toBe(0);
    const [reads = [], reports = [], writes = [], traps = []] = [
      'reads',
      'in read-only transactions',
      'writes',
      'traps',
    ].map((kind) => counts(stdout, kind));
    for (const onReplicas of [reads, reports]) {
      expect(onReplicas).toEqual([0, expect.any(Number), expect.any(Number)]);
      expect(Math.max(...onReplicas)).toBeGreaterThan(0);
    }
    for (const onPrimary of [writes, traps]) {
      expect(onPrimary).toEqual([expect.any(Number), 0, 0]);
      expect(onPrimary[0]).toBeGreaterThan(0);
    }
  }, 90_000);
});

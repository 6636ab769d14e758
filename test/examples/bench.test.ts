import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { useDatabase } from '../support/database.ts';
import { root } from '../support/source-file.ts';

/** What a smoke run of the benchmark prints, with the servers of the tests. */
async function runBench(url: string): Promise<string> {
  const args = ['--import', 'tsx', join(root, 'bench/main.ts'), '--smoke'];
  const env = { ...process.env, RWSPLIT_CLUSTER_URL: url };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
  return stdout;
}

describe('bench/main.ts', () => {
  const cluster = useDatabase();

  it('measures all queries of all subjects, the client alone, the judging of texts, memory, and scale', async () => {
    const stdout = await runBench(cluster().url);

    for (const query of ['read', 'join', 'insert', 'transaction', 'raw', 'stream']) {
      expect(stdout).toMatch(new RegExp(`^${query}, 2 at once\n.*\n +pg +\\d`, 'm'));
    }
    expect(stdout).toMatch(/^ +this package, 'session' +\d/m);
    expect(stdout).toMatch(/^ +transaction +this package, one host +\d/m);
    expect(stdout).toMatch(/^ +join of three tables +first sight +\d/m);
    expect(stdout).toMatch(/^ +2000( +\d+\.\d){3}$/m);
    expect(stdout).toMatch(/^ +20 replicas, outage, in-order +\d+ queries/m);
    expect(stdout).toMatch(/^ +in-order +2 replicas +\d/m);
  }, 150_000);
});

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Runs test files in a folder, by a program that is Node: how many tests passed, and the names of those that failed. */
export function runTests(program, folder, files) {
  const results = mkdtempSync(join(folder, 'results-'));
  const output = join(results, 'results.json');
  const { stderr } = spawnSync(
    program,
    [
      'node_modules/jest/bin/jest.js',
      '--selectProjects',
      'unit',
      'integration',
      '--json',
      `--outputFile=${output}`,
      '--',
      ...files,
    ],
    { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  try {
    const { testResults } = JSON.parse(readFileSync(output, 'utf8'));
    const tests = testResults.flatMap(({ name, status, assertionResults, message }) =>
      assertionResults.length === 0 && status === 'failed'
        ? [{ fullName: `${name} does not load: ${message}`, status }]
        : assertionResults,
    );
    return {
      passed: tests.filter(({ status }) => status === 'passed').length,
      failed: tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
    };
  } catch (error) {
    throw new Error(`The tests did not run:\n${stderr}`, { cause: error });
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

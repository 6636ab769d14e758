import { type ChildProcess, execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './source-file.ts';
import { libraryPath } from './library-path.ts';
import { amount } from './long.ts';

/** How a program ended: by itself, or with the signal that ended it when it did not. */
export interface Ended {
  readonly exitCode: number | string | null;
  /** What it printed on its last line, as JSON. */
  readonly printed: unknown;
  readonly stderr: string;
}

// The loader of TypeScript takes longer than most programs.
const prelude = `
  const { knex } = require(${JSON.stringify(join(root, 'node_modules/knex'))});
  require.extensions['.ts'] = (...args) => {
    delete require.extensions['.ts'];
    require(${JSON.stringify(join(root, 'node_modules/tsx/dist/cjs/index.cjs'))});
    require.extensions['.ts'](...args);
  };
  const print = (value) => console.log(JSON.stringify(value));
`;

/**
 * Runs JavaScript in a process of its own that knows `knex`, `library()` and `print(value)`.
 *
 * @param onStart is given the process, to do something to it.
 * @param before runs before anything else is loaded.
 */
export async function runProgram(
  code: string,
  onStart: (child: ChildProcess) => void = () => undefined,
  before = '',
): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'rwsplit-program-'));
  const path = join(folder, 'program.cjs');
  const library = `const library = () => require(${JSON.stringify(libraryPath())});`;
  writeFileSync(path, `${before}\n${prelude}\n${library}\nvoid (async () => {\n${code}\n})();\n`);
  try {
    return await new Promise((resolve) => {
      // A program that leaves something open never ends by itself.
      const child = execFile(
        process.execPath,
        [path],
        { cwd: root, timeout: amount(20_000) },
        (_, stdout, stderr) => {
          const last = stdout.trimEnd().split('\n').at(-1);
          resolve({
            exitCode: child.exitCode ?? child.signalCode,
            printed: last ? JSON.parse(last) : undefined,
            stderr,
          });
        },
      );
      onStart(child);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

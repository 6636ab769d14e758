import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Node itself, as npm has it for this platform: its program, in the newest version of a release line. */
export function otherNode(folder, line) {
  if (process.versions.node.startsWith(`${line}.`)) return process.execPath;

  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const home = join(folder, `node-${line}`);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), '{}');
  execFileSync(`npm install --silent --no-audit --no-fund --ignore-scripts ${name}@${line}`, {
    cwd: home,
    shell: true,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const program = platform === 'win' ? 'node.exe' : 'node';
  return join(home, 'node_modules', name, 'bin', program);
}

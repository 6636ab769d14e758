/**
 * What this package's features cost. With `--check` it fails where that is more than it may be;
 * other arguments choose among `consistency` and `tenants`.
 */
import { type Cluster, startCluster } from '../lib/testing/index.ts';
import { benchConsistency } from './consistency.ts';
import { benchTenants } from './tenants.ts';

const benches: Readonly<Record<string, (cluster: Cluster) => Promise<boolean>>> = {
  consistency: benchConsistency,
  tenants: benchTenants,
};

async function main(): Promise<void> {
  const [, , ...args] = process.argv;
  const chosen = args.filter((arg) => arg in benches);
  const names = chosen.length > 0 ? chosen : Object.keys(benches);
  const cluster = await startCluster({ maxConnections: 300 });
  try {
    let isAllowed = true;
    for (const name of names) isAllowed = (await benches[name]?.(cluster)) !== false && isAllowed;
    if (args.includes('--check') && !isAllowed) process.exitCode = 1;
  } finally {
    await cluster.stop();
  }
}

void main();

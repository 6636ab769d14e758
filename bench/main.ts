/**
 * What this package costs, beside others. Arguments choose among the benches, and without any the
 * usual ones run. With `--check` it fails where something is beyond its limit; with `--smoke` each
 * does its work a few times only.
 */
import { type Cluster, startCluster } from '../lib/testing/index.ts';
import type { Bench } from './bench-run.ts';
import { benchConsistency } from './consistency.ts';
import { benchTenants } from './tenants.ts';

const benches: Readonly<Record<string, Bench>> = {
  consistency: async ({ cluster }) => benchConsistency(await cluster()),
  tenants: async ({ cluster }) => benchTenants(await cluster()),
};

/** Those that run where none is named. */
const usual: readonly string[] = ['consistency', 'tenants'];

async function main(): Promise<void> {
  const [, , ...args] = process.argv;
  const chosen = args.filter((arg) => arg in benches);
  let cluster: Promise<Cluster> | undefined;
  const run = {
    isSmoke: args.includes('--smoke'),
    cluster: () => (cluster ??= startCluster({ maxConnections: 400 })),
  };
  try {
    let isAllowed = true;
    for (const name of chosen.length > 0 ? chosen : usual) {
      isAllowed = (await benches[name]?.(run)) !== false && isAllowed;
    }
    if (args.includes('--check') && !isAllowed) process.exitCode = 1;
  } finally {
    await (await cluster)?.stop();
  }
}

void main();

/**
 * What this package costs, beside others. Arguments choose among the benches, and without any the
 * usual ones run; what they measure goes to `bench/results.json` and `docs/performance.md`, and
 * `page` alone writes the page again. With `--check` it fails where something is beyond its limit;
 * with `--smoke` each does its work a few times only, and nothing is kept.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, startCluster } from '../lib/testing/index.ts';
import type { Bench } from './bench-run.ts';
import { benchClassification } from './classification.ts';
import { benchClient } from './client.ts';
import { benchConsistency } from './consistency.ts';
import { benchMemory } from './memory.ts';
import { writePage } from './page/write-page.ts';
import { benchQueries } from './queries.ts';
import { saveResults } from './results/results-file.ts';
import type { Results } from './results/section.ts';
import { benchScale } from './service-time.ts';
import { benchSimulation } from './simulation/bench-simulation.ts';
import { benchTenants } from './tenants.ts';

const benches: Readonly<Record<string, Bench>> = {
  queries: benchQueries,
  client: benchClient,
  classification: benchClassification,
  memory: benchMemory,
  consistency: async ({ cluster }) => benchConsistency(await cluster()),
  tenants: async ({ cluster }) => benchTenants(await cluster()),
  simulation: benchSimulation,
  scale: benchScale,
  page: async () => true,
};

/** Those that run where none is named. */
const usual: readonly string[] = ['queries', 'client', 'classification', 'memory'];

/** Those that are tried out. */
const quick: readonly string[] = [...usual, 'simulation', 'scale'];

async function main(): Promise<void> {
  const [, , ...args] = process.argv;
  const chosen = args.filter((arg) => !arg.startsWith('--'));
  const isSmoke = args.includes('--smoke');
  let cluster: Promise<Cluster> | undefined;
  let results: Results = {};
  const run = {
    isSmoke,
    cluster: () => (cluster ??= startCluster({ maxConnections: 400 })),
    keep: (more: Results) => {
      results = { ...results, ...more };
    },
  };
  try {
    let isAllowed = true;
    const named = isSmoke ? quick : usual;
    for (const name of chosen.length > 0 ? chosen : named) {
      const bench = benches[name];
      if (!bench)
        throw new Error(`There is no bench "${name}": ${Object.keys(benches).join(', ')}.`);
      isAllowed = (await bench(run)) && isAllowed;
    }
    if (Object.keys(results).length > 0 || chosen.includes('page')) await write(results, isSmoke);
    if (args.includes('--check') && !isAllowed) process.exitCode = 1;
  } finally {
    await (await cluster)?.stop();
  }
}

async function write(results: Results, isSmoke: boolean): Promise<void> {
  // What is only tried out is written where nobody keeps it.
  const scratch = isSmoke ? mkdtempSync(join(tmpdir(), 'bench-')) : undefined;
  const all = await saveResults(results, scratch ?? __dirname);
  await writePage(all, scratch ?? join(__dirname, '../docs'));
  if (scratch !== undefined) rmSync(scratch, { recursive: true });
}

void main();

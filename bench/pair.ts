/**
 * One pair of subjects in a process of its own, as an application has it: what other subjects had V8
 * compile for them would slow these down. Arguments: which of the checks, and the effort as JSON;
 * what is found goes to the parent.
 */
import { startCluster } from '../lib/testing/index.ts';
import { measurePair, type PairEffort } from './head-to-head.ts';
import { queryChecks } from './query-checks.ts';

async function main(): Promise<void> {
  const [, , place = '', effort = ''] = process.argv;
  const check = queryChecks[Number(place)];
  if (check === undefined) throw new Error(`There is no check ${place}.`);
  // The one of the parent.
  const servers = await startCluster();
  const wanted: PairEffort = JSON.parse(effort);
  process.send?.(await measurePair(servers, check, wanted));
  process.disconnect();
}

void main();

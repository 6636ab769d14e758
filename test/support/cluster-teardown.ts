import { rmSync } from 'node:fs';
import './cluster-setup.ts';

/** Ends the cluster of the run, if it was started for it, and removes what the run threw away. */
export default async function tearDown(): Promise<void> {
  await globalThis.clusterOfThisRun?.stop();
  if (globalThis.folderOfThisRun !== undefined) {
    rmSync(globalThis.folderOfThisRun, { recursive: true, force: true });
  }
}

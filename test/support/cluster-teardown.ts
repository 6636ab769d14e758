import './cluster-setup.ts';

/** Ends the cluster of the run, if it was started for it. */
export default async function tearDown(): Promise<void> {
  await globalThis.clusterOfThisRun?.stop();
}

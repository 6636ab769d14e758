import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import type { TestHost } from '../../../lib/testing/index.ts';
import { eventually } from '../../support/eventually.ts';
import { finalState } from '../../support/final-state.ts';
import type { History } from '../../support/history.ts';
import { type FinalState, findViolations } from '../../support/history-checker.ts';
import { type HistoryLoad, startHistory } from '../../support/history-load.ts';
import { startHistoryProcess } from '../../support/history-process.ts';
import { historySchema, runTurn } from '../../support/history-turn.ts';
import { isLong } from '../../support/long.ts';
import { machineMillis, quickHealth } from '../../support/outage.ts';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { createRoutingSchema } from '../../support/routing-schema.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { setSettings } from '../../support/set-settings.ts';
import { replicasOf, useSplit } from '../../support/split.ts';
import { untilWritable } from '../../support/until-writable.ts';

const sessions = 8;
const rounds = isLong ? 12 : 1;
const quietMillis = isLong ? 1500 : 500;

describe('Sessions in two processes', () => {
  const cluster = useOwnCluster();
  const split = useSplit(cluster);

  beforeAll(async () => createRoutingSchema(cluster(), historySchema));

  it('read their writes and lose none, while a replica is killed and another one promoted', async () => {
    const config: Knex.Config = { pool: { min: 0, max: 10 }, rwSplit: { health: quickHealth } };
    const written = { ...config.rwSplit, replicas: replicasOf(cluster()) };
    const { db } = await split.warm(config);
    const other = await startHistoryProcess('other', {
      ...config,
      connection: cluster().connection(),
      rwSplit: written,
    });
    const load = startHistory({
      name: 'load',
      places: [async (turn) => runTurn(db, 'own', turn), async (turn) => other.run(turn)],
      sessions,
      random: seededRandom(rounds),
    });

    try {
      for (let round = 0; round < rounds; round++) await loseHosts(load);
    } finally {
      await load.stop();
      await other.stop();
    }
    const final = await finalState(cluster().primary);

    expect(new Set(load.events.map(({ process }) => process))).toEqual(new Set(['own', 'other']));
    expect(countOf(load.events, 'ok')).toBeGreaterThan(500 * rounds);
    // What was on its way as the primary was lost: a transaction then is known to be rolled back,
    // unless it was being committed.
    expect(countOf(load.events, 'unknown')).toBeLessThanOrEqual(sessions * rounds);
    const failed = load.events.filter(isFailed);
    expect(failed.filter(({ kind }) => kind !== 'transaction')).toEqual([]);
    expect(failed.length).toBeLessThanOrEqual(sessions * rounds);
    expect(brokenIn(load.events, final)).toEqual([]);
    for (const [rule, spoilt] of plantedIn(load.events)) {
      expect(brokenIn(spoilt, final)).toContainEqual(expect.stringContaining(rule));
    }
  }, 600_000);

  /** Kills a replica and starts it again, then the primary, in whose place the other replica comes. */
  async function loseHosts(load: HistoryLoad): Promise<void> {
    const { primary } = cluster();
    const [heir, other] = cluster().replicas as [TestHost, TestHost];
    await setSettings(primary, { synchronous_standby_names: `1 ("${heir.name}")` });
    await goOn(load);

    await other.kill();
    await goOn(load);
    await other.start();
    await goOn(load);

    // Otherwise it would wait, once it leads, for what its copied settings name.
    await setSettings(heir, { synchronous_standby_names: undefined });
    await primary.kill();
    await heir.promote();
    await untilWritable(heir);
    await goOn(load);

    await Promise.all([other.rejoin(), primary.rejoin()]);
    await goOn(load);
  }

  /** Lets every session do something under what happened last, and waits a little. */
  async function goOn(load: HistoryLoad): Promise<void> {
    const before = load.events.length;
    await sleep(quietMillis);
    await eventually(
      () => {
        const active = load.events.slice(before).filter(({ outcome }) => outcome === 'ok');
        return new Set(active.map(({ session }) => session)).size === sessions;
      },
      { withinMillis: machineMillis },
    );
  }
});

/** What broke, each rule with the read that was the first to break it. */
function brokenIn(events: History, final: FinalState): string[] {
  const broken = new Map(
    findViolations(events, final)
      .toReversed()
      .map((violation) => [violation.rule, violation]),
  );
  return [...broken.values()].map(
    ({ rule, key, version, event }) =>
      `${rule}: ${version} of ${key} in ${JSON.stringify(event ?? 'the final state')}`,
  );
}

function countOf(events: History, outcome: History[number]['outcome']): number {
  return events.filter((event) => event.outcome === outcome).length;
}

function isFailed({ outcome, error }: History[number]): boolean {
  return outcome === 'failed' && error !== 'as planned';
}

/** Copies of a history, each with one read that misses what it saw in truth. */
function plantedIn(events: History): [rule: string, spoilt: History][] {
  const blind = (event: History[number] | undefined): History =>
    events.map((each) =>
      each === event
        ? {
            ...each,
            operations: each.operations.map((operation) =>
              operation.kind === 'read' ? { ...operation, versions: [] } : operation,
            ),
          }
        : each,
    );
  const reads = events.filter(({ operations }) => operations[0]?.kind === 'read').toReversed();
  const versionsOf = ({ operations: [read] }: History[number]): readonly string[] =>
    read?.kind === 'read' ? read.versions : [];
  const writtenBy = (session: string, { beganAt }: History[number]): Set<string> =>
    new Set(
      events
        .filter((event) => event.session === session && event.outcome === 'ok')
        .filter(({ endedAt }) => endedAt <= beganAt)
        .flatMap(({ operations }) => operations)
        .flatMap((operation) => (operation.kind === 'write' ? operation.version : [])),
    );
  const ofOwn = reads.find((event) => {
    const own = writtenBy(event.session, event);
    return versionsOf(event).some((version) => own.has(version));
  });
  const again = reads.find(
    (event) =>
      event.isMonotonic &&
      !versionsOf(event).some((version) => writtenBy(event.session, event).has(version)) &&
      reads.some(
        (earlier) =>
          earlier.session === event.session &&
          earlier.endedAt <= event.beganAt &&
          versionsOf(earlier).some((version) => versionsOf(event).includes(version)),
      ),
  );
  return [
    ['read your writes', blind(ofOwn)],
    ['monotonic reads', blind(again)],
  ];
}

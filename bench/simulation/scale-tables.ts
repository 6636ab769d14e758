import { tableOf } from '../page/table.ts';
import type { Recovery } from './figures.ts';
import { type PickCost, pickSizes } from './pick-cost.ts';
import type { ReplicaFigure, ScenarioFigures } from './scale-results.ts';
import type { ScenarioName } from './scenarios.ts';

/** What the balancers did in each scenario. */
export function scenarioTables(figures: readonly ScenarioFigures[]): string {
  const sizes = [...new Set(figures.map(({ setting }) => setting.replicas))];
  return sizes
    .flatMap((size) => {
      const here = figures.filter(({ setting }) => setting.replicas === size);
      const of = (scenario: ScenarioName): readonly ScenarioFigures[] =>
        here.filter((one) => one.scenario === scenario);
      const clients = here[0]?.setting.clients ?? 0;
      const load = percent(here[0]?.setting.load ?? 0);
      return [
        `### ${size} replicas`,
        `${clients} ${clients === 1 ? 'process' : 'processes'} of an application, ${load} of what the replicas can serve.`,
        'All well: the share of a replica for its weight, where 1 is even.',
        tableOf(
          ['', 'most', 'least', 'deviation', 'p50 in ms', 'p99 in ms'],
          of('even').map((one) => [
            one.balancer,
            two(one.fairness?.mostToMean),
            two(one.fairness?.leastToMean),
            two(one.fairness?.variation),
            one.p50.toFixed(0),
            one.p99.toFixed(0),
          ]),
        ),
        'One in twenty takes ten times as long, and is then well again:',
        tableOf(
          [
            '',
            'queries that went there',
            'p50 in ms',
            'p99 in ms',
            'over 1 s',
            'even again after s',
          ],
          of('slow').map((one) => [
            one.balancer,
            percent(one.troubledShare),
            one.p50.toFixed(0),
            one.p99.toFixed(0),
            percent(one.lateShare),
            one.recovery.slow === undefined ? '–' : evenCell(one.recovery.slow),
          ]),
        ),
        'One in twenty refuses connections and one in twenty hangs, for ten seconds:',
        tableOf(
          ['', 'queries that went there', 'p99 in ms', 'over 1 s', 'failed'],
          of('outage').map((one) => [
            one.balancer,
            percent(one.troubledShare),
            one.p99.toFixed(0),
            percent(one.lateShare),
            String(one.failures),
          ]),
        ),
        'After their return: when they serve again and when they have their even share, in seconds, and how many queries were at one of them at once, at most, for its weight, beside the others:',
        tableOf(
          [
            '',
            'refused: serves',
            'even',
            'at once',
            'hung: serves',
            'even',
            'at once',
            'others: at once',
          ],
          of('outage')
            .filter(({ recovery }) => recovery.refuses !== undefined)
            .map((one) => [
              one.balancer,
              ...recoveryCells(one.recovery.refuses),
              ...recoveryCells(one.recovery.hangs),
              one.mostAtOnceElsewhere.toFixed(1),
            ]),
        ),
      ];
    })
    .join('\n\n');
}

/** What one pick costs. */
export function pickTable(picks: readonly PickCost[]): string {
  return tableOf(
    ['', ...pickSizes.map((size) => `${size} hosts`)],
    picks.map(({ balancer, ratios }) => [balancer, ...ratios.map((ratio) => ratio.toFixed(1))]),
  );
}

/** What the replicas serve whose service takes a fixed time. */
export function replicaTable(figures: readonly ReplicaFigure[]): string {
  const sizes = [...new Set(figures.map(({ replicas }) => replicas))];
  const names = [...new Set(figures.map(({ balancer }) => balancer))];
  return tableOf(
    ['', ...sizes.map((size) => (size === 1 ? '1 replica' : `${size} replicas`))],
    names.map((name) => [
      name,
      ...sizes.map((size) =>
        two(figures.find((one) => one.balancer === name && one.replicas === size)?.ratio),
      ),
    ]),
  );
}

function recoveryCells(recovery: Recovery | undefined): string[] {
  if (recovery === undefined) return ['–', '–', '–'];
  const { firstSeconds, mostAtOnce } = recovery;
  return [firstSeconds?.toFixed(0) ?? 'later', evenCell(recovery), mostAtOnce.toFixed(1)];
}

function evenCell({ evenSeconds }: Recovery): string {
  return evenSeconds?.toFixed(0) ?? 'later';
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`;
}

function two(value: number | undefined): string {
  return value?.toFixed(2) ?? '–';
}

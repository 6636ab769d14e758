import { drawPanels, type Line } from './panels.ts';
import type { ScenarioFigures } from './scale-results.ts';

const kinds: readonly Line['kind'][] = ['one', 'other'];

/** Draws how evenly each balancer shares: the share of each replica, from the least to the most. */
export function drawShares(figures: readonly ScenarioFigures[]): string {
  const even = figures.filter(({ scenario, fairness }) => scenario === 'even' && fairness);
  const sizes = [...new Set(even.map(({ setting }) => setting.replicas))];
  const names = [...new Set(even.map(({ balancer }) => balancer))];
  const panels = names.map((title) => ({
    title,
    lines: even
      .filter(({ balancer }) => balancer === title)
      .map(({ setting, fairness }) => ({
        kind: kinds[sizes.indexOf(setting.replicas)] ?? 'other',
        points: (fairness?.shares ?? []).map((share, step) => [step * 5, share] as const),
      })),
  }));
  return drawPanels(panels, {
    title: 'The share of each replica for its weight, from the least to the most',
    x: [0, 100],
    y: [0, 3],
    xMarks: [0, 50, 100],
    yMarks: [0, 1, 2, 3],
    xLabel: '% of the replicas, from the least share to the most',
    legend: Object.fromEntries(sizes.map((size, place) => [kinds[place], `${size} replicas`])),
  });
}

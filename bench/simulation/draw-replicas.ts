import { drawPanels } from './panels.ts';
import type { ReplicaFigure } from './scale-results.ts';

/** Draws what more replicas serve, beside as many times what one serves. */
export function drawReplicas(figures: readonly ReplicaFigure[]): string {
  const names = [...new Set(figures.map(({ balancer }) => balancer))];
  const most = Math.max(1, ...figures.map(({ replicas }) => replicas));
  const panels = names.map((title) => ({
    title,
    lines: [
      { kind: 'other' as const, points: [[1, 1] as const, [most, most] as const] },
      {
        kind: 'one' as const,
        points: figures
          .filter(({ balancer }) => balancer === title)
          .map(({ replicas, ratio }) => [replicas, ratio] as const),
      },
    ],
  }));
  return drawPanels(panels, {
    title: 'Throughput by the number of replicas, to a single one',
    x: [0, most],
    y: [0, most],
    xMarks: [1, 2, 4, 8],
    yMarks: [0, 2, 4, 6, 8],
    xLabel: 'replicas',
    legend: { one: 'measured', other: 'as many times one' },
  });
}

import { drawPanels } from './panels.ts';
import type { ScenarioFigures } from './scale-results.ts';
import { outageSeconds } from './scenarios.ts';

// Half a minute tells how it goes on.
const LAST_SECOND = 50;

/** Draws how replicas that were away return: their share over time, beside the others'. */
export function drawRecovery(figures: readonly ScenarioFigures[]): string {
  const [size] = figures.map(({ setting }) => setting.replicas);
  const panels = figures
    .filter(({ setting, scenario }) => setting.replicas === size && scenario === 'outage')
    .filter(({ recovery }) => recovery.refuses !== undefined)
    .map(({ balancer, recovery }) => ({
      title: balancer,
      lines: [
        { kind: 'one' as const, points: pointsOf(recovery.refuses?.course) },
        { kind: 'other' as const, points: pointsOf(recovery.hangs?.course) },
      ],
    }));
  const { from, to } = outageSeconds;
  return drawPanels(panels, {
    title: 'The share of replicas that were away, over time',
    x: [0, LAST_SECOND],
    y: [0, 2],
    xMarks: [0, from, to, 30, 40, 50],
    yMarks: [0, 1, 2],
    xLabel: `seconds; away from ${from} to ${to}`,
    legend: { one: 'refused connections', other: 'hung' },
  });
}

function pointsOf(course: readonly number[] = []): readonly (readonly [number, number])[] {
  return course.slice(0, LAST_SECOND).map((share, second) => [second + 0.5, share]);
}

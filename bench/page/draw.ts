import type { QueriesSection, QueryFigure } from '../results/section.ts';
import { queryNames } from '../subjects/subject.ts';

const labelWidth = 200;
const columnWidth = 118;
const barWidth = 74;
const rowHeight = 22;
const top = 44;
const drawnConcurrency = 10;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .small { font-size: 11px; }
  .bar { fill: #9aa4b0; }
  .own { fill: #1f6feb; }
  .line { stroke: #59636e; stroke-dasharray: 2 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .bar { fill: #6e7681; }
    .own { fill: #4493f8; }
    .line { stroke: #9198a1; }
  }`;

/** Draws the throughput of all subjects to plain Knex: a row for each, a column for each query. */
export function draw({ figures }: QueriesSection): string {
  const drawn = figures.filter(({ concurrency }) => concurrency === drawnConcurrency);
  const subjects = [...new Set(drawn.map(({ subject }) => subject))];
  const width = labelWidth + columnWidth * queryNames.length;
  const height = top + rowHeight * subjects.length + 8;
  const labels = subjects.map(
    (subject, row) => `<text x="0" y="${yOf(row) + 15}">${escape(subject)}</text>`,
  );
  const columns = queryNames.map((query, column) => {
    const own = drawn.filter((figure) => figure.query === query);
    return drawColumn(query, labelWidth + columnWidth * column, own, subjects);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>Throughput to plain Knex, ${drawnConcurrency} queries at once</title>
<style>${style}
</style>
${[...labels, ...columns.flat()].join('\n')}
</svg>
`;
}

function drawColumn(
  title: string,
  x: number,
  figures: readonly QueryFigure[],
  subjects: readonly string[],
): string[] {
  const ratios = figures.map(({ throughputRatio: { median } }) => median);
  const scale = barWidth / Math.max(1, ...ratios);
  const plain = (x + scale).toFixed(1);
  const bottom = yOf(subjects.length);
  return [
    `<text x="${x}" y="16" font-weight="600">${title}</text>`,
    ...figures.map(({ subject, throughputRatio: { median } }) => {
      const y = yOf(subjects.indexOf(subject));
      const end = x + median * scale;
      const kind = subject.startsWith('this package') ? 'bar own' : 'bar';
      return `<rect class="${kind}" x="${x}" y="${y + 4}" width="${(end - x).toFixed(1)}" height="14" rx="2"/><text class="small" x="${(end + 4).toFixed(1)}" y="${y + 15}">${median.toFixed(2)}</text>`;
    }),
    `<line class="line" x1="${plain}" x2="${plain}" y1="${top - 6}" y2="${bottom}"/>`,
    `<text class="small" x="${plain}" y="${top - 10}" text-anchor="middle">1</text>`,
  ];
}

function yOf(row: number): number {
  return top + rowHeight * row;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

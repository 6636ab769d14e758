/** A line in a {@link Panel}, by its points. */
export interface Line {
  readonly kind: 'one' | 'other';
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** A small picture among others of the same scale. */
export interface Panel {
  readonly title: string;
  readonly lines: readonly Line[];
}

/** What all panels of a picture have in common. */
export interface Scale {
  readonly title: string;
  readonly x: readonly [from: number, to: number];
  readonly y: readonly [from: number, to: number];
  readonly xMarks: readonly number[];
  readonly yMarks: readonly number[];
  readonly xLabel: string;
  /** What the lines mean. */
  readonly legend: Readonly<Partial<Record<Line['kind'], string>>>;
}

const columns = 3;
const [width, height] = [210, 110];
const [left, top, gapX, gapY] = [34, 44, 30, 56];

const style = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .small { font-size: 10px; fill: #59636e; }
  .grid { stroke: #d1d9e0; }
  .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
  .one { stroke: #1f6feb; }
  .other { stroke: #bc4c00; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .small { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .one { stroke: #4493f8; }
    .other { stroke: #f0883e; }
  }`;

/** Draws panels of one scale beside each other. */
export function drawPanels(panels: readonly Panel[], scale: Scale): string {
  const rows = Math.ceil(panels.length / columns);
  const [wide, high] = [left + columns * (width + gapX), top + rows * (height + gapY)];
  const drawn = panels.map((panel, place) => {
    const x = left + (place % columns) * (width + gapX);
    const y = top + Math.floor(place / columns) * (height + gapY) + 16;
    return `<g transform="translate(${x} ${y})">${drawPanel(panel, scale)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}" role="img">
<title>${scale.title}</title>
<style>${style}
</style>
${[...drawLegend(scale), ...drawn].join('\n')}
</svg>
`;
}

function drawLegend({ legend }: Scale): string[] {
  return Object.entries(legend).map(([kind, text], place) => {
    const x = left + place * 230;
    return `<path class="line ${kind}" d="M${x} 14h22"/><text x="${x + 28}" y="18">${text}</text>`;
  });
}

function drawPanel({ title, lines }: Panel, scale: Scale): string {
  const xOf = positionOf(scale.x, 0, width);
  const yOf = positionOf(scale.y, height, 0);
  return [
    `<text y="-8" font-weight="600">${title}</text>`,
    ...scale.yMarks.map(
      (mark) =>
        `<path class="grid" d="M0 ${yOf(mark)}h${width}"/><text class="small" x="-6" y="${yOf(mark) + 3}" text-anchor="end">${mark}</text>`,
    ),
    ...scale.xMarks.map(
      (mark) =>
        `<text class="small" x="${xOf(mark)}" y="${height + 14}" text-anchor="middle">${mark}</text>`,
    ),
    `<text class="small" x="${width / 2}" y="${height + 28}" text-anchor="middle">${scale.xLabel}</text>`,
    ...lines.map(({ kind, points }) => {
      const path = points.map(([x, y]) => `${xOf(x)} ${yOf(y)}`).join('L');
      return `<path class="line ${kind}" d="M${path}"/>`;
    }),
  ].join('');
}

function positionOf(
  [from, to]: readonly [number, number],
  begin: number,
  end: number,
): (value: number) => number {
  return (value) => {
    const share = (Math.min(Math.max(value, from), to) - from) / (to - from);
    return Number((begin + share * (end - begin)).toFixed(1));
  };
}

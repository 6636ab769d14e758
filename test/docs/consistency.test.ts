import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { resolveConfig } from '../../lib/config/resolve-config.ts';
import { consistencyModes } from '../../lib/config/resolve-consistency.ts';
import { newConsistencyStats } from '../../lib/hosts/consistency-stats.ts';
import { resolveMiddleware } from '../../lib/knex/resolve-middleware.ts';
import { root } from '../support/source-file.ts';

const page = readFileSync(join(root, 'docs/consistency.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );

/** The cells of the row whose first cell names something. */
function rowOf(name: string): readonly string[] {
  return rows.find(([first = '']) => first.includes(`\`${name}`)) ?? [];
}

function optionsOf(path: string): readonly string[] {
  const source = readFileSync(join(root, path), 'utf8');
  return [...source.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, option = '']) => option);
}

describe('docs/consistency.md', () => {
  const { settings } = resolveConfig({ connection: { host: 'h1' }, rwSplit: { replicas: [] } });
  if (settings === undefined) throw new Error('A client with rwSplit has settings.');
  const { mode, waitMillis, monotonic, token } = settings.consistency;

  it.each([
    ['mode', `'${mode}'`],
    ['waitMillis', String(waitMillis)],
    ['monotonic', String(monotonic)],
    ['token.maxAgeMillis', String(token.maxAgeMillis)],
  ])('gives the default of %s as %s', (option, value) => {
    expect(rowOf(option)[1]).toBe(`\`${value}\``);
  });

  it('gives the default of the age of a cookie', () => {
    const options = { cookie: 'position', secret: 'a long random string' };
    const { maxAgeMillis } = resolveMiddleware(options, settings);

    expect(rowOf('cookie.maxAgeMillis')[1]).toBe(`\`${maxAgeMillis}\``);
  });

  it.each(consistencyModes)("has a row for the mode '%s'", (name) => {
    expect(rowOf(`'${name}'`)).toHaveLength(3);
  });

  it.each(Object.keys(newConsistencyStats()))('has a row for the counter %s', (counter) => {
    expect(rowOf(counter)).toHaveLength(3);
  });

  it.each(optionsOf('lib/knex/session-options.ts'))(
    'names the option %s of a session',
    (option) => {
      expect(rows.some(([first = '']) => first.includes(`\`${option}\``))).toBe(true);
    },
  );

  it.each(optionsOf('lib/knex/middleware-options.ts').filter((option) => option !== 'name'))(
    'names the option %s of sessionMiddleware',
    (option) => {
      const names = new RegExp(`\`(?:cookie\\.)?${option}\\b`);

      expect(rows.some(([first = '']) => names.test(first))).toBe(true);
    },
  );
});

describe('the expected share of replicas', () => {
  const header = rows.find(([first]) => first === 'writes of the session') ?? [];
  const lags = header.slice(1).map((cell) => Number(/^lag (\d+) ms$/.exec(cell)?.[1]));
  const shares = rows.flatMap(([first = '', ...cells]) => {
    const writes = /^(\d+) a second$/.exec(first)?.[1];
    return writes === undefined
      ? []
      : cells.map((cell, index) => ({ writes: Number(writes), lag: lags[index] ?? NaN, cell }));
  });

  it.each(shares)('at $writes writes a second and a lag of $lag ms is $cell', (expected) => {
    const share = Math.exp((-expected.writes * expected.lag) / 1000);

    expect(expected.cell).toBe(`${(100 * share).toFixed(1)} %`);
  });

  it('is given for four rates and three lags', () => {
    expect(shares).toHaveLength(12);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { resolveConfig } from '../../lib/config/resolve-config.ts';
import { root } from '../support/source-file.ts';

const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('|'));

/** The first cell of each row of a table. */
const firstCells = rows.map((row) => row.split('|')[1]?.trim() ?? '');

function source(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

describe('docs/operations.md', () => {
  const { settings } = resolveConfig({ connection: { host: 'h1' }, rwSplit: { replicas: [] } });
  const { health, failover, discovery } = settings ?? {};
  const timers = Object.entries({ health, failover, discovery }).flatMap(([group, options]) =>
    Object.entries(options ?? {}).map(([name, value]) => [`${group}.${name}`, String(value)]),
  );

  it.each(timers)('gives the default of %s as %s', (option, value) => {
    const row = rows.find((line) => line.startsWith(`| \`${option}\` `));

    expect(row?.split('|')[2]?.trim()).toBe(value);
  });

  it.each(
    [...source('lib/knex/host-snapshot.ts').matchAll(/state: ((?:'[\w-]+'(?: \| )?)+);/g)].flatMap(
      ([, states = '']) => [...states.matchAll(/'([\w-]+)'/g)].map(([, state = '']) => state),
    ),
  )('tells what the state %s means', (state) => {
    expect(firstCells).toContain(`\`${state}\``);
  });

  it.each(
    [
      ...source('lib/hosts/routable-hosts.ts').matchAll(
        /^ {2}(?:'[\w ]+'|\w+):\s+'((?:is|claims|follows) [^:,']+)/gm,
      ),
    ].map(([, reason = '']) => reason),
  )('tells what to do where a host %s', (reason) => {
    expect(firstCells.join('\n')).toContain(`\`${reason}\``);
  });

  it.each(
    [...source('lib/events.ts').matchAll(/^ {2}'?([\w:]+)'?: \[/gm)].map(([, event = '']) => event),
  )('tells when to alert on the event %s', (event) => {
    expect(firstCells.some((cell) => cell.startsWith(`\`${event}\``))).toBe(true);
  });
});

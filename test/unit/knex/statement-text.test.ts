import { describe, expect, it } from '@jest/globals';
import { SessionChanges } from '../../../lib/routing/session-changes.ts';
import { noteSessionEffect } from '../../../lib/knex/session-effect.ts';
import type { RWSplit } from '../../../lib/knex/rw-split.ts';
import { mayChangeMore } from '../../../lib/knex/statement-text.ts';
import { isBareUnlock } from '../../../lib/knex/unlock.ts';

const times = 100_000;

const texts: [string, string][] = [
  ['blank lines', '\n'.repeat(times)],
  ['spaces', ' '.repeat(times)],
  ['tabs and line ends', '\t\r\n'.repeat(30_000)],
  ['spaces in a statement', `create${' '.repeat(times)}table`],
  ['semicolons', '; '.repeat(50_000)],
  ['spaces after an unlock', `select pg_advisory_unlock(1)${' '.repeat(times)}, 1`],
  ['spaces in an unlock', `select pg_advisory_unlock(${' '.repeat(times)}`],
  ['hashes in an unlock', `select pg_advisory_unlock(${'hashtext(1)'.repeat(10_000)}`],
];

const unread = {
  intent: 'write',
  proved: false,
  reason: 'is too long to be read',
  changesCatalog: false,
  isUnread: true,
} as const;

const scans: [string, (text: string) => unknown][] = [
  [
    'whether it has to be read',
    (text) => [mayChangeMore('raw', text), mayChangeMore('select', text)],
  ],
  [
    'whether an unread text looks like a change',
    (text) => {
      const sessionChanges = new SessionChanges(() => undefined);
      // Of the splitting, the scan knows what notes the changes alone.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      noteSessionEffect({ sessionChanges } as RWSplit, {}, unread, text);
    },
  ],
  ['whether it is a bare unlock', isBareUnlock],
];

function millisOf(run: () => unknown): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}

/** What is read, so that nothing of the reading is optimised away. */
let sum = 0;

function readEachCharacter(text: string): void {
  for (let index = 0; index < text.length; index++) sum += text.codePointAt(index) ?? 0;
}

describe.each(scans)('A long text is asked in linear time %s', (_, scan) => {
  it.each(texts)('of %s', (_name, text) => {
    const linear = millisOf(() => {
      for (let i = 0; i < 100; i++) readEachCharacter(text);
    });

    // A pause of the process is not the scan's.
    const shortest = Math.min(...[1, 2, 3].map(() => millisOf(() => scan(text))));

    expect(shortest).toBeLessThan(linear);
    expect(sum).toBeGreaterThan(0);
  });
});

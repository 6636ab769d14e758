import { describe, expect, it } from '@jest/globals';
import { SessionChanges } from '../../../lib/routing/session-changes.ts';
import { noteSessionEffect } from '../../../lib/knex/session-effect.ts';
import type { RWSplit } from '../../../lib/knex/rw-split.ts';
import { mayChangeSession, runsCode } from '../../../lib/knex/sent-text.ts';
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
  ['the beginnings of comments', '--'.repeat(50_000)],
  ['comments', '-- \n'.repeat(25_000)],
  ['hashes in an unlock', `select pg_advisory_unlock(${'hashtext(1)'.repeat(10_000)}`],
];

const unread = {
  intent: 'write',
  proved: false,
  reason: 'is too long to be read',
  changesCatalog: false,
  isUnread: true,
} as const;

function isSpoilt(text: string): boolean {
  const connection = {};
  const sessionChanges = new SessionChanges(() => undefined);
  // Of the splitting, what notes the changes is all that is needed.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  noteSessionEffect({ sessionChanges } as RWSplit, connection, unread, text);
  return sessionChanges.has(connection);
}

const temporary = [
  "select 'x' as a into pg_temp.notes",
  'select a into temp notes from t',
  'select a into/**/temporary notes from t',
  'select a into local temp notes from t',
  'create temp table notes (a int)',
  'create or replace temp view notes as select 1',
  'create table pg_temp_3.notes (a int)',
];

describe('A text has to be read', () => {
  it.each([
    ...temporary,
    'select U&"set\\005fconfig"($1, $2, false)',
    'alter table t add column a text default f()',
  ])('for what it may do as raw text: %s', (text) => {
    expect(mayChangeMore('raw', text)).toBe(true);
    expect(mayChangeMore(undefined, text)).toBe(true);
  });

  it.each([
    'select 1 as a into temp notes',
    'insert into pg_temp.notes values (1)',
    `update t set a = u&"set!005fconfig" uescape '!' ('app.tenant', 'x', false)`,
    'select 1; set role none',
  ])('for what raw fragments in its builder may do: %s', (text) => {
    expect(mayChangeMore('select', text)).toBe(true);
    expect(mayChangeMore('insert', text)).toBe(true);
  });

  it.each([
    'insert into "readings" ("temp", "template_id", "contemporary") values ($1, $2, $3)',
    'update "u" set "menu" = $1 where "a" & $2 > 0',
  ])('and not for names of columns: %s', (text) => {
    expect(mayChangeMore('insert', text)).toBe(false);
  });
});

describe('A text that could not be read', () => {
  it.each([
    ...temporary,
    'select 1; set role none',
    'select U&"set\\005fconfig"($1, $2, false)',
    "select set_config('role', 'none', false)",
    '-- why\rset role none',
  ])('takes its connection out of use where it looks like a change: %s', (text) => {
    expect(isSpoilt(text)).toBe(true);
  });

  it.each(['insert into t (template, settings) values (1, 2)', 'update t set a = 1', 'select 1'])(
    'leaves it in use else: %s',
    (text) => {
      expect(isSpoilt(text)).toBe(false);
    },
  );
});

const scans: [string, (text: string) => unknown][] = [
  [
    'whether it has to be read',
    (text) => [mayChangeMore('raw', text), mayChangeMore('select', text)],
  ],
  [
    'whether an unread text looks like a change',
    (text) => {
      isSpoilt(text);
    },
  ],
  [
    'whether it may change its session, or runs code',
    (text) => [mayChangeSession(text), runsCode(text)],
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

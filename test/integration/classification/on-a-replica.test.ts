import { beforeAll, describe, expect, it } from '@jest/globals';
import { classify } from '../../../lib/sql/classifier.ts';
import { loadParser } from '../../../lib/sql/parser.ts';
import type { TestHost } from '../../../lib/testing/index.ts';
import { useDatabase } from '../../support/database.ts';
import { disguises, reads, statements } from '../../unit/sql/statements.ts';

const cluster = useDatabase();

const listed = Object.values(statements).flatMap((rows) => rows.map(([sql]) => sql));

// Writes that PostgreSQL never comes to execute.
const notExecuted = new Set([
  'with x as (select * from t for share) select 1',
  'explain (analyze false) delete from t',
]);

// What a replica answers to a statement that it must not run.
const wrongHost = new Set(['25006', '0A000', '55000', 'XX000']);

const schema = `
  create table t (a int, b int, c int, "for" text, "update" text, lock int, share int, key int, temp int);
  create table u (a int, b int);
  create table s (a int, b int);
  create table "update" (a int);
  create sequence sq;
  insert into t values (1, 2, 3);
  create function f(x bigint) returns bigint language sql immutable as 'select x';
  create function g(x bigint) returns bigint language sql immutable as 'select x';
`;

beforeAll(async () => {
  await loadParser();
  await cluster().primary.query(schema);
  await cluster().waitForReplay();
});

/** The SQLSTATE of an error; undefined where the statement ran. */
async function outcome(host: TestHost, sql: string): Promise<string | undefined> {
  // Unknown parameters are given a type, so that the statement gets as far as it can.
  const text = sql.replaceAll(/\$\d/g, 'null');
  try {
    await host.query(text);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

describe('a real replica', () => {
  it('refuses nothing that is judged a read', async () => {
    const judged = [...listed, ...reads, ...disguises].filter(
      (sql) => classify(sql).verdict.intent === 'read',
    );
    const refused: string[] = [];
    let ran = 0;

    for (const sql of judged) {
      const code = await outcome(replica(), sql);
      if (code === undefined) ran++;
      else if (wrongHost.has(code)) refused.push(`${sql} → ${code}`);
    }

    expect(refused).toEqual([]);
    expect(ran).toBeGreaterThan(60);
  });

  it('runs nothing that is judged a proved write', async () => {
    const judged = listed.filter((sql) => {
      const { intent, proved } = classify(sql).verdict;
      return intent === 'write' && proved && !notExecuted.has(sql);
    });
    const ran: string[] = [];
    let refused = 0;

    for (const sql of judged) {
      const code = await outcome(replica(), sql);
      if (code === undefined) ran.push(sql);
      else if (wrongHost.has(code)) refused++;
    }

    expect(ran).toEqual([]);
    expect(refused).toBeGreaterThan(80);
  });
});

function replica(): TestHost {
  const [host] = cluster().replicas;
  if (host === undefined) throw new Error('These tests need a replica.');
  return host;
}

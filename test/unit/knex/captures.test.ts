import { describe, expect, it } from '@jest/globals';
import { WRITTEN } from '../../../lib/consistency/questions.ts';
import { onPrimary, rwSplit } from '../../../lib/index.ts';
import { sessionOf } from '../../../lib/knex/session-scope.ts';
import type { FakePositions } from '../../support/fake-positions.ts';
import { useFakePositions } from '../../support/fake-positions.ts';
import type { TokenContent } from '../../../lib/consistency/token.ts';

const make = useFakePositions();

function written({ split }: FakePositions): TokenContent {
  return sessionOf(split().state).content;
}

function refuse(code: string): never {
  throw Object.assign(new Error(`refused: ${code}`), { code, severity: 'ERROR' });
}

describe('A write of a session', () => {
  it('has its position captured behind it, on its own connection', async () => {
    const servers = await make();

    await servers.db('t').insert({ a: 1 });

    expect(servers.sent()).toEqual(['primary: insert', 'primary: WRITTEN']);
    const [insert, question] = servers.driver.requests.slice(-2);
    expect(question?.pid).toBe(insert?.pid);
    expect(written(servers)).toEqual({
      written: { timeline: 1, lsn: 0x200n },
      seen: undefined,
      isUncertain: false,
    });
  });

  it('is captured as its transaction commits, and at no other time', async () => {
    const servers = await make();

    await servers.db.transaction(async (trx) => {
      await trx('t').insert({ a: 1 });
      await trx('t');
    });

    expect(servers.sent()).toEqual([
      'primary: BEGIN;',
      'primary: insert',
      'primary: select',
      'primary: COMMIT;',
      'primary: WRITTEN',
    ]);
    expect(written(servers).written).toEqual({ timeline: 1, lsn: 0x200n });
  });

  it('moves nothing where its transaction is rolled back', async () => {
    const servers = await make();

    await servers.db
      .transaction(async (trx) => {
        await trx('t').insert({ a: 1 });
        throw new Error('changed my mind');
      })
      .catch(() => undefined);

    expect(servers.sent()).toEqual(['primary: BEGIN;', 'primary: insert', 'primary: ROLLBACK']);
    expect(written(servers)).toMatchObject({ written: undefined, isUncertain: false });
  });

  it('leaves its position unknown where the server does not tell it', async () => {
    const servers = await make();
    servers.onRequest = ({ text }) => (text === WRITTEN ? refuse('55000') : undefined);
    await servers.db('t').insert({ a: 1 });
    expect(written(servers)).toMatchObject({ written: undefined, isUncertain: true });
    servers.onRequest = () => undefined;
    servers.sent();

    await servers.db('t');
    await servers.db('t').modify(onPrimary);

    expect(servers.sent()).toEqual(['primary: select', 'primary: WRITTEN', 'primary: select']);
    expect(written(servers)).toMatchObject({ written: { lsn: 0x200n }, isUncertain: false });
  });

  it('asks a server that knows no positions once, and not for a while', async () => {
    const servers = await make();
    servers.onRequest = ({ text }) => (text === WRITTEN ? refuse('42883') : undefined);

    await servers.db('t').insert({ a: 1 });
    await servers.db('t').insert({ a: 1 });
    await servers.db('t');

    expect(servers.sent()).toEqual([
      'primary: insert',
      'primary: WRITTEN',
      'primary: insert',
      'primary: select',
    ]);
    expect(written(servers).isUncertain).toBe(true);
  });

  it.each<[string, (servers: FakePositions) => PromiseLike<unknown>, bigint | undefined]>([
    ['a builder has changed nothing', ({ db }) => db('t').insert({ a: 1 }), undefined],
    ['raw text may have', ({ db }) => db.raw('insert into t select 1; select 1/0'), 0x100n],
  ])('is captured where it fails, if %s', async (_, write, lsn) => {
    const servers = await make();
    servers.onRequest = ({ text }) => (text.startsWith('insert') ? refuse('23505') : undefined);

    await expect(write(servers)).rejects.toThrow('23505');

    expect(written(servers)).toEqual({
      written: lsn === undefined ? undefined : { timeline: 1, lsn },
      seen: undefined,
      isUncertain: false,
    });
  });

  it('belongs to the session that it runs in, and to none beside it', async () => {
    const servers = await make();
    const { db } = servers;

    const token = await rwSplit(db).session({}, async () => {
      await db('t').insert({ a: 1 });
      return rwSplit(db).token();
    });

    expect(token).toBeDefined();
    expect(written(servers)).toMatchObject({ written: undefined, isUncertain: false });
    expect(rwSplit(db).token()).toBeUndefined();
  });
});

describe('A read of a session on the primary', () => {
  it('asks for nothing where its position is known', async () => {
    const servers = await make();
    await servers.db('t').insert({ a: 1 });
    servers.sent();

    await servers.db('t').modify(onPrimary);

    expect(servers.sent()).toEqual(['primary: select']);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { rwSplit } from '../../../lib/index.ts';
import type { SessionOptions } from '../../../lib/knex/session-options.ts';
import { sessionOf } from '../../../lib/knex/session-scope.ts';
import type { FakePositions } from '../../support/fake-positions.ts';
import { useFakePositions } from '../../support/fake-positions.ts';

const make = useFakePositions();

describe('A session', () => {
  it('does what the surrounding one does, and the client, unless told otherwise', async () => {
    const { db, split } = await make({ consistency: { waitMillis: 7 } });
    const settings = (): unknown => sessionOf(split().state).settings;
    const handle = rwSplit(db);

    const [outer, inner] = handle.session({ monotonic: true, consistency: 'eventual' }, () => [
      settings(),
      handle.session({ waitMillis: 9, invalidToken: 'ignore' }, settings),
    ]);

    expect(settings()).toMatchObject({ mode: 'session', waitMillis: 7, monotonic: false });
    expect(outer).toEqual({ mode: 'eventual', waitMillis: 7, monotonic: true, isStrict: true });
    expect(inner).toEqual({ mode: 'eventual', waitMillis: 9, monotonic: true, isStrict: false });
  });

  it.each<[string, SessionOptions, boolean]>([
    ['as the surrounding one does', {}, false],
    ['as it is told', { invalidToken: 'error' }, true],
    ['by itself where it brings one', { after: '' }, true],
  ])('takes a wrong token %s', async (_, options, isStrict) => {
    const { db, split } = await make();
    const handle = rwSplit(db);
    await db('t').insert({ a: 1 });
    const told = 'after' in options ? { after: handle.token() } : options;

    const settings = handle.session({ invalidToken: 'ignore' }, () =>
      handle.session(told, () => sessionOf(split().state).settings),
    );

    expect(settings).toMatchObject({ isStrict });
  });

  it('sees what the surrounding one had written, which sees what is written in it', async () => {
    const { db, primary } = await make();
    const handle = rwSplit(db);
    const insert = async (): Promise<string | undefined> => {
      await db('t').insert({ a: 1 });
      return handle.token();
    };

    await handle.session({}, async () => {
      const before = await insert();
      await handle.session({}, async () => {
        expect(handle.token()?.split('.')[2]).toBe(before?.split('.')[2]);
        await insert();
      });

      expect(handle.token()).not.toBe(before);
      expect(primary.lsn).toBe(0x300n);
    });
  });

  it('sees nothing of the client as a whole, nor of another one', async () => {
    const [one, other] = [await make(), await make()];
    await one.db('t').insert({ a: 1 });

    const tokens = rwSplit(one.db).session({}, () =>
      [one, other].map(({ db }: FakePositions) => rwSplit(db).token()),
    );

    expect(tokens).toEqual([undefined, undefined]);
    expect(rwSplit(one.db).token()).toBeDefined();
  });

  it('is that of transactions and clones, too', async () => {
    const { db } = await make();
    const position = (of: Knex): string | undefined => rwSplit(of).token()?.split('.')[2];

    await rwSplit(db).session({}, async () => {
      const within = await db.transaction(async (trx) => {
        await trx('t').insert({ a: 1 });
        return position(trx);
      });

      expect([within, position(db), position(db.withUserParams({}))]).toEqual([
        undefined,
        '1-200',
        '1-200',
      ]);
    });
  });
});

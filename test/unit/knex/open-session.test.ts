import { describe, expect, it } from '@jest/globals';
import { ConfigError, InvalidTokenError } from '../../../lib/errors.ts';
import { rwSplit } from '../../../lib/index.ts';
import { sessionOf } from '../../../lib/knex/session-scope.ts';
import { useFakePositions } from '../../support/fake-positions.ts';

const make = useFakePositions();

describe('session', () => {
  it('sees what another process wrote, by its token', async () => {
    const [one, other] = [await make(), await make()];
    await one.db('t').insert({ a: 1 });

    const content = rwSplit(other.db).session({ after: rwSplit(one.db).token() }, () => {
      const { content: told, isGiven } = sessionOf(other.split().state);
      return { ...told, isGiven };
    });

    expect(content).toEqual({
      written: { timeline: 1, lsn: 0x200n },
      seen: undefined,
      isUncertain: false,
      isGiven: true,
    });
  });

  it.each([
    ['malformed', 'no token'],
    ['no text', 7 as unknown as string],
    ['null, as of a missing header', null as unknown as string],
  ])('refuses a token that is %s, or takes it for none', async (_, after) => {
    const { db } = await make();
    const handle = rwSplit(db);

    expect(() => handle.session({ after }, () => undefined)).toThrow(InvalidTokenError);
    expect(handle.session({ after, invalidToken: 'ignore' }, () => handle.token())).toBeUndefined();
  });

  it('fails no read in another one that ignores what its token tells of', async () => {
    const { db } = await make();
    const handle = rwSplit(db);
    await db('t').insert({ a: 1 });
    const after = handle.token()?.replace('1-200', '1-9000');
    const nested = { monotonic: true };

    await handle.session({ after, invalidToken: 'ignore' }, async () =>
      expect(handle.session(nested, async () => db('t'))).resolves.toEqual([]),
    );
  });

  it('refuses a token without a signature where there is a secret', async () => {
    const [plain, signed] = [
      await make(),
      await make({ consistency: { token: { secret: 'hunter2' } } }),
    ];
    await plain.db('t').insert({ a: 1 });
    await signed.db('t').insert({ a: 1 });
    const [unsigned, own] = [plain, signed].map(({ db }) => rwSplit(db).token());
    const open = (after: string | undefined) => () =>
      rwSplit(signed.db).session({ after }, () => undefined);

    expect(open(unsigned)).toThrow(InvalidTokenError);
    expect(open(own)).not.toThrow();
    expect(own).not.toContain('hunter2');
  });

  it.each<[string, object]>([
    ['session.aftr', { aftr: 'x' }],
    ['session.invalidToken', { invalidToken: 'ignored' }],
    ['session.consistency', { consistency: 'weak' }],
    ['session.waitMillis', { waitMillis: -1 }],
    ['session.monotonic', { monotonic: 'yes' }],
  ])('refuses a bad %s: %o', async (path, options) => {
    const { db } = await make();
    const open = (): unknown => rwSplit(db).session(options, () => undefined);

    expect(open).toThrow(ConfigError);
    expect(open).toThrow(expect.objectContaining({ path }));
  });

  it('refuses a consistency that the target leaves no host for', async () => {
    const { db } = await make({ target: 'any' });

    expect(() => rwSplit(db).session({ consistency: 'strong' }, () => undefined)).toThrow(
      /needs the primary/,
    );
  });
});

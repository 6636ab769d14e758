import { describe, expect, it } from '@jest/globals';
import { isPasswordError, watchPassword } from '../../../lib/hosts/password-error.ts';

interface Asking {
  password: unknown;
}

describe('A password function', () => {
  const watched = (password: unknown): Asking => {
    const client: Asking = { password };
    watchPassword(client);
    return client;
  };
  const ask = async ({ password }: Asking, ...args: unknown[]): Promise<unknown> =>
    (password as (...given: unknown[]) => Promise<unknown>)(...args);

  it('answers as ever, with what the driver gives it', async () => {
    const client = watched(async (given: string) => `token of ${given}`);

    expect(await ask(client, 'ann')).toBe('token of ann');
  });

  it.each([
    [
      'throws',
      (error: Error) => () => {
        throw error;
      },
    ],
    ['rejects', (reason: Error) => async () => Promise.reject(reason)],
  ])('that %s is told from a server that refuses', async (_, make) => {
    const error = new Error('The vault is sealed');
    const client = watched(make(error));

    await expect(ask(client)).rejects.toBe(error);

    expect(isPasswordError(error)).toBe(true);
    expect(isPasswordError(new Error('The vault is sealed'))).toBe(false);
  });

  it('that throws no error at all has one made of it', async () => {
    const client = watched(async () => Promise.reject('a text'));

    const error: unknown = await ask(client).catch((reason: unknown) => reason);

    expect(error).toEqual(new Error('a text'));
    expect(isPasswordError(error)).toBe(true);
  });

  it('is nothing that can be listed, and a text is left as it is', () => {
    expect(Object.keys(watched(() => 'secret'))).not.toContain('password');
    expect(watched('secret').password).toBe('secret');
  });
});

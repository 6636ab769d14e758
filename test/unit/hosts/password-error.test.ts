import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { isPasswordError, watchPassword } from '../../../lib/hosts/password-error.ts';

interface Asking {
  password: unknown;
  readonly connection: { readonly stream: { destroy(): void } };
}

describe('A password function', () => {
  const watched = (password: unknown): { client: Asking; isClosed: () => boolean } => {
    let isClosed = false;
    const destroy = (): void => {
      isClosed = true;
    };
    const client: Asking = { password, connection: { stream: { destroy } } };
    watchPassword(client);
    return { client, isClosed: () => isClosed };
  };
  const ask = async ({ password }: Asking, ...args: unknown[]): Promise<unknown> =>
    (password as (...given: unknown[]) => Promise<unknown>)(...args);

  it('answers as ever, with what the driver gives it', async () => {
    const { client, isClosed } = watched(async (given: string) => `token of ${given}`);

    expect(await ask(client, 'ann')).toBe('token of ann');
    await turn();
    expect(isClosed()).toBe(false);
  });

  it.each([
    [
      'throws',
      (error: Error) => () => {
        throw error;
      },
    ],
    ['rejects', (reason: Error) => async () => Promise.reject(reason)],
  ])('that %s is told from a server that refuses, and the socket is closed', async (_, make) => {
    const error = new Error('The vault is sealed');
    const { client, isClosed } = watched(make(error));

    await expect(ask(client)).rejects.toBe(error);

    expect(isPasswordError(error)).toBe(true);
    expect(isPasswordError(new Error('The vault is sealed'))).toBe(false);
    await turn();
    expect(isClosed()).toBe(true);
  });

  it('that throws no error at all is passed on', async () => {
    const { client } = watched(async () => Promise.reject('a text'));

    await expect(ask(client)).rejects.toBe('a text');
    expect(isPasswordError('a text')).toBe(false);
  });

  it('is nothing that can be listed, and a text is left as it is', () => {
    expect(Object.keys(watched(() => 'secret').client)).not.toContain('password');
    expect(watched('secret').client.password).toBe('secret');
  });
});

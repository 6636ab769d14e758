import { describe, expect, it } from '@jest/globals';
import { mergeConnections, type ConnectionObject } from '../../../lib/config/connection-object.ts';
import { completeConnection, createProvider } from '../../../lib/config/connection-provider.ts';

const primary = mergeConnections({ host: 'h1', user: 'app', password: 'hunter2' });
const defaults = { connectionTimeoutMillis: 5000, keepAlive: true };

function answer(settings: Record<string, unknown>): () => Promise<ConnectionObject> {
  return () => Promise.resolve(mergeConnections(settings));
}

function failing(): Promise<ConnectionObject> {
  return Promise.reject(new Error('no vault'));
}

function checker(expired: boolean | undefined): object {
  return expired === undefined ? {} : { expirationChecker: () => expired };
}

describe('completeConnection', () => {
  it('bounds how long connecting takes and keeps connections alive', () => {
    expect(completeConnection(primary)).toEqual({ host: 'h1', user: 'app', ...defaults });
  });

  it('leaves what the user gave', () => {
    const given = { connectionTimeoutMillis: 0, keepAlive: false };

    expect(completeConnection(primary, mergeConnections(given))).toMatchObject(given);
  });
});

describe('createProvider', () => {
  it.each([
    ['settings', primary],
    ['a function', answer({ ...primary, password: 'hunter2' })],
  ])('lays an answer over %s', async (_, inherited) => {
    const connection = await createProvider(inherited, answer({ host: 'h2', user: 'other' }))();

    expect(connection).toEqual({ host: 'h2', user: 'other', ...defaults });
    expect(connection.password).toBe('hunter2');
  });

  it('lays settings over an answer', async () => {
    const connection = await createProvider(answer({ host: 'h1', user: 'app' }), primary)();

    expect(connection).toEqual({ host: 'h1', user: 'app', ...defaults });
    expect(connection.password).toBe('hunter2');
  });

  it('asks again each time', async () => {
    let calls = 0;
    const provide = createProvider(primary, () => answer({ password: `word-${++calls}` })());

    expect([(await provide()).password, (await provide()).password]).toEqual(['word-1', 'word-2']);
  });

  it('passes a failure on', async () => {
    await expect(createProvider(primary, failing)()).rejects.toThrow('no vault');
    await expect(createProvider(failing, primary)()).rejects.toThrow('no vault');
  });

  it.each([
    [false, false, false],
    [true, false, true],
    [false, true, true],
    [undefined, true, true],
    [undefined, undefined, undefined],
  ])('is expired with what it inherits (%p) or says itself (%p): %p', async (below, above, now) => {
    const provide = createProvider(answer({ ...checker(below) }), answer({ ...checker(above) }));

    expect((await provide()).expirationChecker?.()).toBe(now);
  });
});

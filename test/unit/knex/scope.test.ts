import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { currentScope, inScope, outsideScopes } from '../../../lib/knex/scope.ts';

/** What an application keeps of its request, by the means of Node itself. */
const requests = new AsyncLocalStorage<string>();

describe('inScope', () => {
  it('surrounds what is started in it, however late that runs', async () => {
    const seen = await inScope({ target: 'primary' }, async () => {
      await turn();
      return currentScope();
    });

    expect(seen).toEqual({ target: 'primary' });
    expect(currentScope()).toBeUndefined();
  });

  it('gives way to a scope within it', () => {
    const seen = inScope({ target: 'primary' }, () =>
      inScope({ target: 'replica' }, () => currentScope()),
    );

    expect(seen).toEqual({ target: 'replica' });
  });
});

describe('outsideScopes', () => {
  it("is outside of a scope of ours, and of the application's request", async () => {
    const seen = await requests.run('GET /', () =>
      inScope({ target: 'primary' }, () =>
        outsideScopes(async () => {
          const atOnce = [currentScope(), requests.getStore()];
          await turn();
          return [...atOnce, currentScope(), requests.getStore()];
        }),
      ),
    );

    expect(seen).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('leaves the caller where it was', () => {
    requests.run('GET /', () => {
      inScope({ isTask: true }, () => {
        outsideScopes(() => undefined);

        expect(currentScope()).toEqual({ isTask: true });
        expect(requests.getStore()).toBe('GET /');
      });
    });
  });

  it('hands out what the function returns, and throws', () => {
    expect(outsideScopes(() => 7)).toBe(7);
    expect(() =>
      outsideScopes(() => {
        throw new Error('gone');
      }),
    ).toThrow('gone');
  });

  it('is nothing that a process would wait for', () => {
    // As Jest's --detectOpenHandles looks at what is made.
    const seen: boolean[] = [];
    const hook = createHook({
      init(_id, type, _trigger, resource: { hasRef?: () => boolean }) {
        if (type === 'knex-rwsplit') seen.push(resource.hasRef?.() ?? true);
      },
    }).enable();

    jest.isolateModules(() => require('../../../lib/knex/scope.ts'));
    hook.disable();

    expect(seen).toEqual([false]);
  });
});

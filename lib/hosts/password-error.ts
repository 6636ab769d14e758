import { asError } from '../errors.ts';

const thrown = new WeakSet<object>();

interface Asking {
  password?: unknown;
}

/** Remembers what a client's `password` function throws: that is the application's, and tells nothing of a server. */
export function watchPassword(client: object): void {
  const { password } = client as Asking;
  if (typeof password !== 'function') return;

  const ask = async (...args: readonly unknown[]): Promise<unknown> => {
    try {
      return (await Reflect.apply(password, client, args)) as unknown;
    } catch (reason) {
      const error = asError(reason);
      thrown.add(error);
      throw error;
    }
  };
  // As the driver has it: out of sight.
  Object.defineProperty(client, 'password', {
    value: ask,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}

/** Whether an error is what a `password` function threw. */
export function isPasswordError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && thrown.has(error);
}

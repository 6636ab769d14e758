const thrown = new WeakSet<object>();

interface Asking {
  password?: unknown;
  readonly connection?: { readonly stream?: { destroy?(): void } };
}

/**
 * Remembers what a client's `password` function throws: that is the application's, and tells nothing
 * of a server, which would wait for the password for a minute.
 */
export function watchPassword(client: object): void {
  const { password, connection } = client as Asking;
  if (typeof password !== 'function') return;

  const ask = async (...args: readonly unknown[]): Promise<unknown> => {
    try {
      return (await Reflect.apply(password, client, args)) as unknown;
    } catch (error) {
      if (typeof error === 'object' && error !== null) thrown.add(error);
      // The driver tells of the error first, and leaves the socket open.
      setImmediate(() => connection?.stream?.destroy?.());
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

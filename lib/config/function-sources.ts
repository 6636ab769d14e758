const sources = new WeakMap<object, readonly unknown[]>();

/** Keeps what a function of ours was made of, so that two made of the same can be known as equal. */
export function madeOf<F extends (...args: never[]) => unknown>(
  made: F,
  ...of: readonly unknown[]
): F {
  sources.set(made, of);
  return made;
}

/** What a function of ours was made of; undefined for an application's own. */
export function sourcesOf(made: object): readonly unknown[] | undefined {
  return sources.get(made);
}

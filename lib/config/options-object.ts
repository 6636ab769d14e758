/** Tells an object literal from lists, functions, class instances and everything else. */
export function isOptionsObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Not `=== Object.prototype`: a configuration may come from another realm, as in Jest.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

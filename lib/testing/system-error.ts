/** Says whether an error carries a code of the operating system, such as `ENOENT`. */
export function isSystemError(error: unknown, code: string): boolean {
  // Not `instanceof Error`: inside of Jest, Node's own errors are of another realm's class.
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

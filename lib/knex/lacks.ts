// No such function, no privilege, or a feature that an engine does not have.
const LACKS: ReadonlySet<unknown> = new Set(['42883', '42501', '0A000']);

/** Whether a server refused a question as it will refuse it the next time. */
export function isLacking(refusal: unknown): boolean {
  return (
    typeof refusal === 'object' && refusal !== null && 'code' in refusal && LACKS.has(refusal.code)
  );
}

import { asError } from '../errors.ts';

/** Whether an acquire was ended from outside; as tarn calls it. */
export function isPoolAbort(error: unknown): boolean {
  return asError(error).message === 'aborted';
}

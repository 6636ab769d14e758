import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: (options?: { readonly type: 'minor' }) => void = runInNewContext('gc');

/** Collects the young garbage of who ran before, whose cost nobody else is to bear. */
export function collectYoungGarbage(): void {
  collect({ type: 'minor' });
}

/** Collects all garbage, so that what is left in use is needed. */
export function collectGarbage(): void {
  // Node 20 has no name for it.
  collect();
}

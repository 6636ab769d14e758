import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: (options?: { readonly type: 'minor' | 'major' }) => void = runInNewContext('gc');

/** Collects the garbage of who ran before, whose cost nobody else is to bear: the young, or all. */
export function collectGarbage(type: 'minor' | 'major' = 'minor'): void {
  collect({ type });
}

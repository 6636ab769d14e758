import { drawRecovery } from './draw-recovery.ts';
import { drawReplicas } from './draw-replicas.ts';
import { drawShares } from './draw-shares.ts';
import type { ScaleResults } from './scale-results.ts';

/** The pictures beside the page, by the names of their files. */
export function picturesOf({
  scenarios = [],
  replicas = [],
}: ScaleResults): Record<string, string> {
  return {
    'scale-shares.svg': drawShares(scenarios),
    'scale-recovery.svg': drawRecovery(scenarios),
    'scale-replicas.svg': drawReplicas(replicas),
  };
}

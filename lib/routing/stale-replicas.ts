import { formatLsn } from '../consistency/lsn.ts';
import { StaleReplicasError } from '../errors.ts';
import type { Host } from '../hosts/host.ts';
import type { Need } from './need.ts';

/** The error of a read that only a replica could serve, where none has what it needs. */
export function staleReplicas(
  replicas: readonly Host[],
  { mark, reason }: Need,
  cause?: Error,
): StaleReplicasError {
  const names = replicas.map(({ name }) => name).join(', ');
  const wanted =
    mark === undefined
      ? reason
      : `none has replayed ${formatLsn(mark.lsn)} on timeline ${mark.timeline}`;
  return new StaleReplicasError(
    `No replica can serve this read of its session in time: of ${names}, ${wanted}. ` +
      "Let the primary serve it, give it more time (failover.waitMillis), or read with the consistency 'eventual'.",
    cause && { cause },
  );
}

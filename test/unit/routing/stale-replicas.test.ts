import { describe, expect, it } from '@jest/globals';
import type { Mark } from '../../../lib/consistency/mark.ts';
import { StaleReplicasError } from '../../../lib/errors.ts';
import { staleReplicas } from '../../../lib/routing/stale-replicas.ts';
import { makeCluster } from '../../support/hosts.ts';
import { makeNeed } from '../../support/need.ts';

function errorFor(mark: Mark | undefined): StaleReplicasError {
  const { routable } = makeCluster({ primary: {}, near: {}, far: {} });
  return staleReplicas(routable.replicas, makeNeed({ mark }));
}

describe('staleReplicas', () => {
  it('names the replicas, what none of them has, and what to do', () => {
    const error = errorFor({ timeline: 3, lsn: 0x1_0000_00ffn });

    expect(error).toBeInstanceOf(StaleReplicasError);
    expect(error.code).toBe('RWSPLIT_STALE');
    expect(error.message).toMatch(/of near, far, none has replayed 1\/FF on timeline 3/);
    expect(error.message).toMatch(/failover\.waitMillis.*'eventual'/);
  });

  it('says so where not even the position is known', () => {
    expect(errorFor(undefined).message).toMatch(
      /of near, far, the position of what its session wrote is not known\./,
    );
  });
});

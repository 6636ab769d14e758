import type { Cluster } from '../hosts/cluster.ts';
import type { Trouble } from '../hosts/health.ts';
import type { Host } from '../hosts/host.ts';
import type { HostEvidence } from './failure.ts';

/** Lets the cluster know what a query, or a connection for one, met on a host. */
export function noteEvidence(
  cluster: Cluster,
  host: Host,
  evidence: HostEvidence | 'silent',
  error: Error,
): void {
  const suspect = (trouble: Trouble): void =>
    cluster.noteTrouble(host, { trouble, reason: error.message }, error);

  switch (evidence) {
    case 'none':
      return;
    case 'overloaded':
      return host.pool.gate.rest(error);
    case 'doubtful':
    // A probe meets the same, and says so for good.
    case 'misconfigured':
      // One that is down is asked at its own pace already.
      return host.health.state === 'down' ? undefined : cluster.doubt(host, false);
    case 'network':
      return suspect('refused');
    case 'starting':
    case 'silent':
      return suspect(evidence);
    default:
      return evidence satisfies never;
  }
}

import { describe, expect, it } from '@jest/globals';
import { noteEvidence } from '../../../lib/routing/evidence.ts';
import type { HostEvidence } from '../../../lib/routing/failure.ts';
import { hostOf, makeCluster, names } from '../../support/hosts.ts';

const error = new Error('so it failed');

describe('noteEvidence', () => {
  it.each<[HostEvidence | 'silent', string, string | undefined, readonly string[]]>([
    ['none', 'up', undefined, []],
    ['overloaded', 'up', undefined, []],
    ['doubtful', 'up', undefined, ['a']],
    ['misconfigured', 'up', undefined, ['a']],
    ['network', 'suspect', 'refused', ['a']],
    ['starting', 'suspect', 'starting', ['a']],
    ['silent', 'suspect', 'silent', ['a']],
  ])('takes %s for a host that is %s', (evidence, state, trouble, doubted) => {
    const cluster = makeCluster({ primary: {}, a: {} });
    const probed: string[] = [];
    cluster.onDoubt = ({ name }) => probed.push(name);
    const host = hostOf(cluster, 'a');

    noteEvidence(cluster, host, evidence, error);

    const { health } = host;
    expect(health.state).toBe(state);
    expect('trouble' in health ? health.trouble : undefined).toBe(trouble);
    expect('reason' in health ? health.reason : error.message).toBe(error.message);
    expect(probed).toEqual(doubted);
    expect(host.lastError).toBe(trouble === undefined ? undefined : error);
  });

  it('opens no further connection for a moment where a server has none left', () => {
    const cluster = makeCluster({ primary: {}, a: {} });
    const host = hostOf(cluster, 'a');

    noteEvidence(cluster, host, 'overloaded', error);

    expect(host.pool.hasRoom()).toBe(false);
    expect(names(cluster.routable.replicas)).toEqual(['a']);
  });
});

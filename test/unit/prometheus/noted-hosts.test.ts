import { describe, expect, it } from '@jest/globals';
import { NotedHosts } from '../../../lib/prometheus/noted-hosts.ts';

describe('NotedHosts', () => {
  it('takes the hosts that left, once', () => {
    const noted = new NotedHosts();
    for (const name of ['pod-1', 'pod-2', 'pod-1', 'pod-3']) noted.note(name);

    expect(noted.takeGone(['pod-3', 'pod-4'])).toEqual(['pod-1', 'pod-2']);
    expect(noted.takeGone(['pod-3', 'pod-4'])).toEqual([]);
  });

  it('takes none where it is not known which there are', () => {
    const noted = new NotedHosts();
    noted.note('pod-1');

    expect(noted.takeGone(undefined)).toEqual([]);
    expect(noted.takeGone([])).toEqual(['pod-1']);
  });
});

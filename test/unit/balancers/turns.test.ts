import { describe, expect, it } from '@jest/globals';
import type { NonEmpty } from '../../../lib/balancers/balancer.ts';
import { Turns } from '../../../lib/balancers/turns.ts';
import { hostView } from '../../support/host-view.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const [a, b, c] = [hostView('a'), hostView('b'), hostView('c')];

describe('Turns', () => {
  it('looks at each host once', () => {
    const hosts: NonEmpty<typeof a> = [
      a,
      ...Array.from({ length: 99 }, (_, i) => hostView(`b${i}`)),
    ];
    let looks = 0;

    new Turns(seededRandom(1)).pick(hosts, () => {
      looks += 1;
      return 0;
    });

    expect(looks).toBe(hosts.length);
  });

  it('gives turns among the hosts that score lowest', () => {
    const turns = new Turns(seededRandom(1));

    const names = Array.from(
      { length: 10 },
      () => turns.pick([a, b, c], ({ name }) => (name === 'b' ? 1 : 0)).name,
    );

    expect(names.join('')).toMatch(/^(ac){5}$|^(ca){5}$/);
  });

  it('does not let a host of low score that rises inherit turns', () => {
    const turns = new Turns(seededRandom(1));
    for (let i = 0; i < 1000; i++) turns.pick([a, b], ({ order }) => order);

    const names = Array.from({ length: 20 }, () => turns.pick([a, b], () => 0).name).join('');

    expect(names).not.toMatch(/bbb/);
  });

  it('stays fair after thousands of discovered hosts came and went', () => {
    const turns = new Turns(seededRandom(1));
    for (let i = 0; i < 5000; i++) turns.pick([a, b, hostView(`z${i}`)], () => 0);
    const counts: Record<string, number> = { a: 0, b: 0 };

    for (let i = 0; i < 1000; i++) {
      const { name } = turns.pick([a, b], () => 0);
      counts[name] = (counts[name] ?? 0) + 1;
    }

    expect(Math.abs((counts['a'] ?? 0) - 500)).toBeLessThanOrEqual(1);
  });
});

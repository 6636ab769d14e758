import { Positions } from '../../lib/consistency/positions.ts';
import { Need, type NeedParts } from '../../lib/routing/need.ts';
import { FakeClock } from './fake-clock.ts';

/** A need of position 0/64 on timeline 1 that has just come to be, and waits for nothing. */
export function makeNeed(told: Partial<NeedParts> = {}): Need {
  const clock = told.clock ?? new FakeClock();
  return new Need({
    mark: { timeline: 1, lsn: 100n },
    since: clock.now(),
    waitUntil: clock.now(),
    giveUpAt: clock.now() + 10_000,
    positions: new Positions(),
    clock,
    ...told,
  });
}

import type { Host } from './host.ts';

// How often a host may have forgotten a statement: a session may have been reset.
const MOST_LOSSES = 3;

const losses = new WeakMap<Host, number>();

/**
 * Whether sessions of a host keep what they prepare by name, as far as is known: behind a pooler each
 * statement may run in another one.
 */
export function keepsNames(host: Host): boolean {
  return (losses.get(host) ?? 0) < MOST_LOSSES;
}

/**
 * Notes that a session had no statement of a name that was prepared in it, or had one that was not.
 *
 * @returns whether names are not used any more on the host from here on.
 */
export function noteNameLoss(host: Host, hadAnother: boolean): boolean {
  const before = losses.get(host) ?? 0;
  const count = hadAnother ? MOST_LOSSES : before + 1;
  losses.set(host, Math.max(before, count));
  return before < MOST_LOSSES && count >= MOST_LOSSES;
}

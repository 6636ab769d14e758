import type { Host } from './host.ts';

const pooled = new WeakMap<Host, boolean>();

/** Notes what the newest connection to a host tells of a pooler before it. */
export function notePooler(host: Host, isPooled: boolean): void {
  pooled.set(host, isPooled);
}

/** Whether a pooler seemed to stand before a host when it was last dialled; undefined where nothing tells. */
export function hasPooler(host: Host): boolean | undefined {
  return pooled.get(host);
}

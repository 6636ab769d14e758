import { systemClock } from '../clock.ts';
import { readWritten } from '../consistency/questions.ts';
import type { RouteRequest } from '../routing/route.ts';
import { needOf } from './needs.ts';
import { askWritten } from './captures.ts';
import type { RWSplit } from './rw-split.ts';

const onThePrimary = {
  intent: 'write',
  proved: true,
  reason: 'asks for a position',
  hint: { target: 'primary' },
} as const;

/** Whether a read may not go to the primary, and needs what only the primary can tell. */
export function lacksPosition({ need, hint, scope }: RouteRequest, { settings }: RWSplit): boolean {
  if (need === undefined || need.mark !== undefined) return false;
  if (hint?.target === 'primary' || hint?.host !== undefined) return false;
  const isForReplicas = hint?.target === 'replica' || scope === 'replica';
  return isForReplicas || settings.target === 'replica' || settings.fallback === 'error';
}

/** Asks the primary for the position of what a session has written, which it doesn't know. */
export async function settle(split: RWSplit, request: RouteRequest): Promise<RouteRequest> {
  const { session, hint } = request;
  if (session === undefined) return request;

  const { doubts } = session;
  const { host, connection, leave } = await split.dispatcher.acquire(onThePrimary);
  try {
    const mark = readWritten(await askWritten(host, connection));
    if (mark !== undefined) session.settle(mark, doubts, systemClock.now());
  } finally {
    leave?.();
    split.dispatcher.release(host, connection);
  }
  return { ...request, need: needOf(split, session, hint?.consistency ?? session.settings.mode) };
}

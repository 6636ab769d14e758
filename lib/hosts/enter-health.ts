import type { HealthSettings } from '../config/settings.ts';
import type { RWSplitEmitter } from '../events.ts';
import type { Health } from './health.ts';
import type { Host } from './host.ts';

// What listeners were told of a host last: they hear nothing of mere suspicions.
const told = new WeakMap<Host, 'up' | 'down'>();

const aborted = { code: 'ECONNABORTED' } as const;

/** What {@link enterHealth} works with. */
export interface EnterHealthParts {
  readonly events: RWSplitEmitter;
  readonly health: HealthSettings;
}

/** Puts a host into another state of health, with all that goes with it. */
export function enterHealth(
  host: Host,
  health: Health,
  { events, health: { slowStartMillis } }: EnterHealthParts,
): void {
  const was = host.health;
  host.health = health;
  // What is open goes on where only new connections are refused, as for a password that was changed.
  if (isGone(health) && !isGone(was)) leaveHost(host, health.reason);
  if (health.state === was.state) return;

  const { name, role } = host;
  if (health.state === 'up') {
    if (health.readmittedAt !== was.readmittedAt) host.startSlowly(slowStartMillis);
    if (told.get(host) !== 'up') events.tell('host:up', { host: name, role });
    told.set(host, 'up');
  }
  if (health.state === 'down') {
    const { reason } = health;
    if (told.get(host) !== 'down') events.tell('host:down', { host: name, role, reason });
    told.set(host, 'down');
  }
}

type Down = Extract<Health, { state: 'down' }>;

function isGone(health: Health): health is Down {
  return health.state === 'down' && health.trouble !== 'misconfigured';
}

function leaveHost(host: Host, reason: string): void {
  host.report = undefined;
  host.pool.turnAway();
  // As Node calls a connection that was given up.
  host.pool.gate.dialling.giveUp(() =>
    Object.assign(new Error(`${host.name} is down: ${reason}`), aborted),
  );
  host.replaceConnections();
}

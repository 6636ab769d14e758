import type { BalancerOption } from '../balancers/registry.ts';
import { ConfigError } from '../errors.ts';
import { mergeConnections, type ConnectionObject } from './connection-object.ts';
import { type HostAddress, parseAddress } from './host-address.ts';
import { invalidOption, listKnown } from './invalid-option.ts';
import type { Target } from './options.ts';
import { showValue } from './shown-value.ts';

/** What a connection's URL says about routing, in the words of openGauss JDBC, libpq and pgjdbc. */
export interface RoutingParameters {
  /** What is left for `pg`. */
  readonly settings: ConnectionObject;
  readonly target: Target | undefined;
  readonly balancer: BalancerOption | undefined;
  /** The presumed primary. */
  readonly writeAddress: HostAddress | undefined;
}

const targets: ReadonlyMap<string, Target> = new Map<string, Target>([
  ['any', 'split'],
  ...['master', 'primary', 'read-write'].map((word) => [word, 'primary'] as const),
  ...['slave', 'secondary', 'standby', 'read-only'].map((word) => [word, 'replica'] as const),
  ...['preferSlave', 'preferSecondary', 'preferStandby', 'prefer-standby'].map(
    (word) => [word, 'prefer-replica'] as const,
  ),
]);

const balancers: ReadonlyMap<string, BalancerOption> = new Map<string, BalancerOption>([
  ['roundrobin', 'round-robin'],
  ['true', 'round-robin'],
  ['balance', 'round-robin'],
  ['shuffle', 'shuffle'],
  ['leastconn', 'least-connections'],
  ['false', 'in-order'],
]);

const shuffles: ReadonlyMap<string, BalancerOption> = new Map<string, BalancerOption>([
  ['true', 'shuffle'],
  ['random', 'shuffle'],
  ['false', 'in-order'],
  ['disable', 'in-order'],
]);

const switches: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

const names = [
  'targetServerType',
  'target_session_attrs',
  'autoBalance',
  'loadBalanceHosts',
  'load_balance_hosts',
  'enableStatementLoadBalance',
  'writeDataSourceAddress',
] as const;

type RoutingParameter = (typeof names)[number];

/** Finds the first routing parameter in settings that have no place for one. */
export function findRoutingParameter(settings: ConnectionObject): string | undefined {
  return names.find((name) => settings[name] !== undefined);
}

/**
 * Takes the routing parameters out of a connection's settings.
 *
 * @throws {ConfigError} when a value is unknown; the message lists the known ones.
 */
export function takeRoutingParameters(settings: ConnectionObject, path: string): RoutingParameters {
  const look = <T>(name: RoutingParameter, known: ReadonlyMap<string, T>, more: string[] = []) => {
    const value = settings[name];
    if (value === undefined) return undefined;
    const meaning = known.get(wordOf(value));
    if (meaning === undefined) {
      throw invalidOption(`${path}.${name}`, value, listKnown([...known.keys(), ...more]));
    }
    return meaning;
  };

  look('enableStatementLoadBalance', switches);
  const serverType = look('targetServerType', targets);
  const sessionAttrs = look('target_session_attrs', targets);
  if (serverType !== undefined && sessionAttrs !== undefined && serverType !== sessionAttrs) {
    throw new ConfigError(
      `${path}.target_session_attrs`,
      `${path}.target_session_attrs is ${showValue(settings['target_session_attrs'])}, and targetServerType says otherwise; write one of them.`,
    );
  }
  const balancer = [
    readPriority(settings['autoBalance']) ?? look('autoBalance', balancers, ['priority<n>']),
    look('loadBalanceHosts', shuffles),
    look('load_balance_hosts', shuffles),
  ];

  const rest = Object.entries(settings).filter(([name]) => !names.some((each) => each === name));
  return {
    settings: mergeConnections(Object.fromEntries(rest), { password: settings.password }),
    target: serverType ?? sessionAttrs,
    balancer: balancer.find(isGiven),
    writeAddress: readAddress(settings['writeDataSourceAddress'], path),
  };
}

// In an object `autoBalance: true` is written without quotes.
function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : '';
}

function isGiven(value: unknown): boolean {
  return value !== undefined;
}

function readPriority(value: unknown): BalancerOption | undefined {
  const digits = /^priority(\d+)$/.exec(wordOf(value))?.[1];
  return digits === undefined ? undefined : { name: 'priority', first: Number(digits) };
}

function readAddress(value: unknown, path: string): HostAddress | undefined {
  if (value === undefined || value === '') return undefined;
  const address = parseAddress(wordOf(value));
  if (address === undefined) {
    throw invalidOption(`${path}.writeDataSourceAddress`, value, 'a host and port as in pg-1:5432');
  }
  return address;
}

import type { Host } from '../hosts/host.ts';
import { unfitness } from '../hosts/routable-hosts.ts';
import type { Need } from '../routing/need.ts';
import type { Route } from '../routing/route.ts';
import type { Intent } from '../sql/verdict.ts';
import { executable } from './internals.ts';
import { isList, requestOf } from './request.ts';
import type { RWSplit } from './rw-split.ts';

/** Where a query would go, and why. */
export interface Explanation {
  readonly intent: Intent;
  /** For people: `only reads`, `calls nextval`, `hint: primary; …` */
  readonly reason: string;
  /** The statements that the query compiles to. */
  readonly sql: readonly string[];
  /** The names of the hosts of which the balancer would pick one. */
  readonly hosts: readonly string[];
  /** The names of the hosts that would serve if none of `hosts` could. */
  readonly fallback: readonly string[];
  /** Every host that would not serve it, one that a hint names included, and why. */
  readonly others: readonly OtherHost[];
}

/** A host that would not serve a query. */
export interface OtherHost {
  readonly host: string;
  /** In words that follow the name. */
  readonly reason: string;
}

/** Says where a query would go, without running it, once every host was probed. */
export async function explainQuery(split: RWSplit, query: object): Promise<Explanation> {
  const builder = executable(query);
  const compiled = builder.toSQL();
  const sql = isList(compiled) ? compiled.map((statement) => statement.sql) : [compiled.sql];
  if (builder._connection !== undefined || builder.client.transacting === true) {
    const reason = 'runs on the connection of its transaction, or the one it was given';
    return { intent: 'session', reason, sql, hosts: [], fallback: [], others: [] };
  }

  const request = await requestOf(split, builder, compiled);
  await split.watch.whenSettled();
  const { cluster, dispatcher } = split;
  const { intent, reason, hosts, role, ...more } = dispatcher.route(request);
  const fallback = [...more.fallback, ...more.lastResort];
  const others = cluster.hosts
    .filter((host) => {
      const isAsked = hosts.includes(host) || fallback.includes(host);
      return !isAsked || unfitness(host, cluster.elected) !== undefined;
    })
    .map((host) => ({
      host: host.name,
      reason: unfitness(host, cluster.elected) ?? passedOver(host, role, request.need),
    }));
  return { intent, reason, sql, hosts: hosts.map(nameOf), fallback: fallback.map(nameOf), others };
}

function passedOver(host: Host, role: Route['role'], need: Need | undefined): string {
  if (role !== 'any' && host.role !== role) return `is a ${host.role}`;
  if (need?.of(host) === 'behind') return 'is not known to have what the session wrote or saw';
  return 'is not what the hint asks for';
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

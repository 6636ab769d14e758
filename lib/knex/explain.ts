import type { Intent } from '../sql/verdict.ts';
import { executable } from './internals.ts';
import { isList, requestOf } from './request.ts';
import type { RWSplit } from './rw-split.ts';

/** Where a query would go, and why. */
export interface Explanation {
  readonly intent: Intent;
  /** For people: `is a read`, `calls nextval`, `hint: primary; …` */
  readonly reason: string;
  /** The statements that the query compiles to. */
  readonly sql: readonly string[];
  /** The names of the hosts of which the balancer would pick one. */
  readonly hosts: readonly string[];
  /** The names of the hosts that would serve if none of `hosts` could. */
  readonly fallback: readonly string[];
}

/** Says where a query would go, without running it or taking a connection for it. */
export async function explainQuery(split: RWSplit, query: object): Promise<Explanation> {
  const builder = executable(query);
  const compiled = builder.toSQL();
  const sql = isList(compiled) ? compiled.map((statement) => statement.sql) : [compiled.sql];
  if (builder._connection !== undefined || builder.client.transacting === true) {
    const reason = 'runs on the connection of its transaction, or the one it was given';
    return { intent: 'session', reason, sql, hosts: [], fallback: [] };
  }

  const { intent, reason, hosts, fallback } = split.dispatcher.route(
    await requestOf(split, builder, compiled),
  );
  return { intent, reason, sql, hosts: hosts.map(nameOf), fallback: fallback.map(nameOf) };
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

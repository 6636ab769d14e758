import type { Attributes } from '@opentelemetry/api';
import type { DialledAddress } from '../hosts/dialled-address.ts';
import type { RWSplit } from '../knex/rw-split.ts';
import type { LeaseDescription } from '../routing/lease.ts';

/** Where a statement runs, as its span shows it. */
export interface TracedRoute {
  readonly address: DialledAddress | undefined;
  /** The attributes beyond the address. */
  readonly attributes: Attributes;
}

/** Reads off an event of Knex where its statement runs. */
export function tracedRoute(split: RWSplit | undefined, on: LeaseDescription): TracedRoute {
  return {
    address: split?.cluster.host(on.host)?.pool.gate.dialling.address,
    attributes: {
      'rwsplit.host.name': on.host,
      'rwsplit.host.role': on.role,
      'rwsplit.route.reason': on.reason,
    },
  };
}

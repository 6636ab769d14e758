import { hideValue } from './connection-object.ts';
import type { RWSplitOptions } from './options.ts';

/** Copies options without what is not given, and with their secrets hidden from inspection and JSON. */
export function writeOptions(options: RWSplitOptions): RWSplitOptions {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const copy: RWSplitOptions = Object.fromEntries(given);

  const { consistency } = options;
  if (typeof consistency !== 'object' || consistency.token?.secret === undefined) return copy;

  const { secret, ...token } = { ...consistency.token, secret: consistency.token.secret };
  return { ...copy, consistency: { ...consistency, token: hideValue(token, 'secret', secret) } };
}

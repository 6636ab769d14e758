import type { Connection } from '../hosts/host.ts';
import type { Lease } from '../routing/lease.ts';
import type { CompiledStatement, PgClient, StreamRequest } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import { recovered } from './statement.ts';
import { intoStream } from './stream-statement.ts';

/**
 * Makes the client that sends a statement by way of what an application's own client class does
 * around it, such as telling the connection whose it is: where another host has to run it, all of
 * that is done again there.
 */
export function guardedClient(client: PgClient, split: RWSplit, lease: Lease): PgClient {
  // A transaction stays where it is.
  if (lease.isTransaction || lease.unlock !== undefined) return client;

  const query = (_: Connection, statement: CompiledStatement): Promise<CompiledStatement> => {
    const restore = again(statement);
    lease.isGuarded = true;
    return recovered(split, lease, statement, async (to) => {
      restore();
      return client._query(to, statement);
    });
  };
  const stream = (
    _: Connection,
    statement: CompiledStatement,
    into: StreamRequest['stream'],
    options: unknown,
  ): Promise<unknown> => {
    const restore = again(statement);
    lease.isGuarded = true;
    return intoStream(lease, into, () =>
      recovered(split, lease, statement, async (to) => {
        restore();
        return client._stream(to, statement, into, options);
      }),
    );
  };
  return Object.create(client, {
    _query: { value: query },
    _stream: { value: stream },
  }) as PgClient;
}

// It may be changed on the way.
function again(statement: CompiledStatement): () => void {
  const { sql, bindings } = statement;
  const own = [...bindings];
  return () => Object.assign(statement, { sql, bindings: [...own] });
}

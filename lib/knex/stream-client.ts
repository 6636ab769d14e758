import type { Connection } from '../hosts/host.ts';
import type { Lease } from '../routing/lease.ts';
import { noteBoundStatement } from './bound-statement.ts';
import type { CompiledStatement, PgClient, Runner } from './internals.ts';
import type { RWSplit } from './rw-split.ts';
import { describeRoute } from './statement.ts';

type Stream = (
  connection: Connection,
  statement: CompiledStatement,
  ...more: unknown[]
) => Promise<unknown>;

/**
 * Makes the client of one stream.
 *
 * Knex releases the connection of a stream when the stream closes and again when its query ends; by
 * then it may be another query's. Both ways must end the stream's own lease and no other. And Knex
 * streams without asking its runner, which notes what a statement does.
 */
export function streamClient(
  { client, builder }: Runner,
  split: RWSplit,
  ownLease: () => Lease | undefined,
): PgClient {
  const stream: Stream = client.stream.bind(client);

  const send: Stream = (connection, statement, ...more) => {
    const own = ownLease();
    const lease = own ?? split.dispatcher.leaseOf(connection);
    if (lease !== undefined) statement.rwSplit = describeRoute(lease);

    const noted =
      own === undefined
        ? noteBoundStatement(split, connection, statement, client, builder)
        : undefined;
    const sent = stream(connection, statement, ...more);
    return noted === undefined ? sent : afterBoth(sent, noted);
  };

  return Object.create(client, {
    releaseConnection: { value: async () => ownLease()?.release() },
    stream: { value: send },
  }) as PgClient;
}

async function afterBoth(sent: Promise<unknown>, noted: Promise<void>): Promise<unknown> {
  try {
    return await sent;
  } finally {
    await noted;
  }
}

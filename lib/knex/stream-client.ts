import type { Connection } from '../hosts/host.ts';
import type { Lease } from '../routing/lease.ts';
import { noteBoundStatement, onceNoted } from './bound-statement.ts';
import type { CompiledStatement, PgClient, Runner, StreamRequest } from './internals.ts';
import { isOver } from './transaction-lease.ts';
import type { RWSplit } from './rw-split.ts';
import { describeRoute } from './statement.ts';

type Stream = (
  connection: Connection,
  statement: CompiledStatement,
  target: StreamRequest['stream'],
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
  let outlet: StreamRequest['stream'] | undefined;

  const send: Stream = (connection, statement, target, ...more) => {
    outlet = target;
    const own = ownLease();
    const lease = own ?? split.dispatcher.leaseOf(connection);
    if (isOver(client, lease)) return stream(connection, statement, target, ...more);
    if (lease !== undefined) statement.rwSplit = describeRoute(lease);

    const noted =
      own === undefined
        ? noteBoundStatement(split, connection, statement, client, builder)
        : undefined;
    const sent = stream(connection, statement, target, ...more);
    return onceNoted(sent, noted, split, lease);
  };

  const release = async (): Promise<void> => {
    const lease = ownLease();
    if (lease !== undefined) lease.isReadToEnd = outlet?.readableEnded === true;
    await lease?.release();
  };
  return Object.create(client, {
    releaseConnection: { value: release },
    stream: { value: send },
  }) as PgClient;
}

import type { Knex } from 'knex';

interface CopyWire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Copies lines into a table on a connection taken by hand, as `pg-copy-streams` does. */
export async function copyIn(db: Knex, text: string, lines: string): Promise<void> {
  const connection = await db.client.acquireConnection();
  try {
    await new Promise<void>((resolve, reject) => {
      connection.query({
        text,
        submit: (wire: CopyWire) => wire.query(text),
        handleCopyInResponse(wire: CopyWire) {
          wire.sendCopyFromChunk(Buffer.from(lines));
          wire.endCopyFrom();
        },
        handleCommandComplete: () => undefined,
        handleReadyForQuery: () => resolve(),
        handleError: reject,
      });
    });
  } finally {
    await db.client.releaseConnection(connection);
  }
}

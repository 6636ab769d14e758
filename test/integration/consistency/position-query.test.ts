import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { REPLAYED_ON, WRITTEN } from '../../../lib/consistency/questions.ts';
import { positionClass } from '../../../lib/knex/position-query.ts';
import { useDatabase } from '../../support/database.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];

/** What a server answers by the query of ours, and by the driver's own. */
async function both(client: Client, text: string): Promise<readonly [Rows, Rows]> {
  const { Query } = Client as unknown as { Query: Parameters<typeof positionClass>[0] };
  const ours = await new Promise<Rows>((resolve, reject) => {
    const query = new (positionClass(Query))(text);
    const done = (error: Error | null, result: { readonly rows: Rows }): void => {
      if (error) reject(error);
      else resolve(result.rows);
    };
    void client.query(query as never, done as never);
  });
  const { rows } = await client.query<Rows[number]>(text);
  return [ours, rows];
}

describe('A question about a position', () => {
  const cluster = useDatabase();

  it.each(['primary', 'replica'] as const)(
    'is answered as any other query: on a %s',
    async (role) => {
      const host = role === 'primary' ? cluster().primary : cluster().replicas[0];
      const client = new Client(cluster().connection(host));
      await client.connect();
      try {
        const [ours, usual] = await both(client, role === 'primary' ? WRITTEN : REPLAYED_ON);

        const shape = [
          { lsn: expect.stringMatching(/^[\dA-F]+\/[\dA-F]+$/), timeline: expect.anything() },
        ];
        expect([ours, usual]).toEqual([shape, shape]);
        expect(String(ours[0]?.['timeline'])).toBe(String(usual[0]?.['timeline']));
      } finally {
        await client.end();
      }
    },
  );

  it('fails as any other query', async () => {
    const client = new Client(cluster().connection());
    await client.connect();
    try {
      await expect(both(client, 'select nothing from nowhere')).rejects.toMatchObject({
        code: '42P01',
      });
      expect((await both(client, WRITTEN))[0]).toHaveLength(1);
    } finally {
      await client.end();
    }
  });
});

import type { TestHost } from 'knex-rwsplit/testing';

/** How many orders, of those that the shop was told are stored, a server does not have. */
export async function lostOrders(host: TestHost, references: readonly string[]): Promise<number> {
  const [row] = await host.query<{ lost: number }>(
    `select count(*)::int as lost from unnest($1::uuid[]) as known
     where known not in (select reference from orders where reference is not null)`,
    [references],
  );
  return row?.lost ?? references.length;
}

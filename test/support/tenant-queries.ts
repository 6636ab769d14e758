import type { Knex } from 'knex';
import { rwSplit } from '../../lib/index.ts';
import type { Tenants } from './tenant-schema.ts';

/** Who a statement ran as, in the words of the server: of a tenant, each is its name. */
export interface Asker {
  readonly role: string;
  readonly setting: string | null;
  readonly path: string;
  /** What a table says that belongs to the tenant, by its schema or by its policy. */
  readonly owner?: string;
}

/** Answers of one kind of query, all of which are the asker's own. */
export type TenantQuery = (by: Asking) => Promise<readonly Asker[]>;

/** Who asks, and by what. */
export interface Asking {
  readonly db: Knex;
  readonly tenants: Tenants;
  readonly name: string;
  /** `db` in the tenant's state. */
  readonly tenant: Knex;
}

const asker =
  "current_user as role, current_setting('app.tenant', true) as setting, current_setting('search_path') as path";

const ofSchema = `select ${asker}, name as owner from whose`;
const ofRole = `select ${asker}, tenant as owner from notes`;
const ofSetting = `select ${asker}, tenant as owner from items`;

async function rowsOf(by: Knex, text: string): Promise<Asker[]> {
  return (await by.raw<{ rows: Asker[] }>(text)).rows;
}

/** What tenants ask, and how often of a hundred times. */
export const tenantQueries: readonly (readonly [share: number, name: string, TenantQuery])[] = [
  [20, 'raw', async ({ tenant }) => rowsOf(tenant, ofSchema)],
  [20, 'builder', async ({ tenant }) => tenant('whose').select(tenant.raw(asker), 'name as owner')],
  [15, 'rows of the role', async ({ tenant }) => rowsOf(tenant, ofRole)],
  [15, 'rows of the setting', async ({ tenant }) => rowsOf(tenant, ofSetting)],
  [
    10,
    'insert',
    async ({ tenant, name }) =>
      tenant('written')
        .insert({ by: name })
        .returning([
          'role',
          'setting',
          'by as owner',
          tenant.raw("current_setting('search_path') as path"),
        ]),
  ],
  [
    10,
    'inState',
    async ({ db, tenants, name }) =>
      rwSplit(db).inState(tenants.state(name), async () => rowsOf(db, ofSchema)),
  ],
  [
    5,
    'transaction',
    async ({ tenant }) =>
      tenant.transaction(async (trx) => [
        ...(await rowsOf(trx, ofSchema)),
        ...(await rowsOf(trx, ofRole)),
      ]),
  ],
  [
    5,
    'stream',
    async ({ tenant }) => {
      const rows: Asker[] = [];
      for await (const row of tenant.raw(ofSchema).stream()) rows.push(row);
      return rows;
    },
  ],
];

/** What asks who a statement without a state runs as. */
export async function askNobody(db: Knex): Promise<readonly Asker[]> {
  return rowsOf(db, `select ${asker}`);
}

/** Whether an answer belongs to a tenant. */
export function isOwn({ role, setting, path, owner }: Asker, name: string): boolean {
  return role === name && setting === name && owner === name && path === `"${name}", "app"`;
}

/** Whether an answer shows no tenant's state. */
export function isNobody({ role, setting, path }: Asker, { login }: Tenants): boolean {
  // A setting of one's own is empty once it was set, not gone.
  return role === login.user && !setting && path === '"$user", public';
}

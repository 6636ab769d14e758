import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Subject } from './subject.ts';

/** The name of a peer, and its file in `bench/peers`, which imports what is installed there alone. */
const files: Readonly<Record<string, string>> = {
  'knex-dynamic-connection': 'dynamic-connection.ts',
  TypeORM: 'typeorm.ts',
  Sequelize: 'sequelize.ts',
  Drizzle: 'drizzle.ts',
  'kysely-replication': 'kysely.ts',
  MikroORM: 'mikro-orm.ts',
  Prisma: 'prisma.ts',
};

const folder = join(__dirname, '../peers');

/** The libraries that others use for this. */
export const peers: readonly Subject[] = Object.entries(files).map(([name, file]) => ({
  name,
  hosts: 'all',
  missing: () =>
    existsSync(join(folder, 'node_modules'))
      ? undefined
      : 'it is not installed: npm ci --prefix bench/peers',
  open: async (cluster) => {
    // By a name that is computed: TypeScript would ask for packages that may not be there.
    const { subject }: { readonly subject: Subject } = await import(join(folder, file));
    return subject.open(cluster);
  },
}));

import { afterAll, beforeAll } from '@jest/globals';
import type { Cluster } from '../../lib/testing/index.ts';
import { sharedCluster } from './cluster.ts';
import { nameTenants, type Tenants, tenantSchema } from './tenant-schema.ts';

/** Makes tenants in a database for the tests of a file; see {@link tenantSchema}. */
export function useTenants(cluster: () => Cluster, count: number): Tenants {
  const tenants = nameTenants(count);

  beforeAll(async () => {
    await cluster().primary.query(tenantSchema(tenants));
    await cluster().waitForReplay();
  });

  afterAll(async () => {
    const roles = [...tenants.names, tenants.login.user].map((name) => `"${name}"`).join(', ');
    // The database, and all that they own, has gone before them.
    const { primary } = await sharedCluster();
    await primary.query(`drop role if exists ${roles}`);
  });

  return tenants;
}

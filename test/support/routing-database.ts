import { beforeAll } from '@jest/globals';
import type { Cluster } from '../../lib/testing/index.ts';
import { useDatabase } from './database.ts';
import { createRoutingSchema } from './routing-schema.ts';

/**
 * Gives a test file a database with what {@link createRoutingSchema} makes.
 */
export function useRoutingDatabase(more = ''): () => Cluster {
  const cluster = useDatabase();

  beforeAll(async () => {
    await createRoutingSchema(cluster(), more);
  });

  return cluster;
}

import type { TestHost } from '../../lib/testing/index.ts';
import { withSession } from '../../lib/testing/session.ts';
import { until } from '../../lib/testing/until.ts';

const promotionMillis = 10_000;

/** Resolves as soon as a server that is being promoted takes a write. */
export async function untilWritable(host: TestHost): Promise<void> {
  await withSession(host.connection, (session) =>
    until(`${host.name} takes writes`, promotionMillis, async () => {
      const write = 'create temporary table accepted () on commit drop';
      return session.query(write).then(
        () => true,
        (error: { code?: string }) => {
          if (error.code === '25006') return false;
          throw error;
        },
      );
    }),
  );
}

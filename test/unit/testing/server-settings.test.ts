import { describe, expect, it } from '@jest/globals';
import { parseClusterOptions } from '../../../lib/testing/cluster-options.ts';
import { serverSettings } from '../../../lib/testing/server-settings.ts';

describe('serverSettings', () => {
  it('gives the number of connections', () => {
    const settings = serverSettings(parseClusterOptions({ maxConnections: 30 }), false);

    expect(settings).toMatchObject({ max_connections: '30' });
  });

  it("prefers the user's settings", () => {
    const options = parseClusterOptions({ settings: { fsync: 'on', work_mem: '1MB' } });

    expect(serverSettings(options, false)).toMatchObject({ fsync: 'on', work_mem: '1MB' });
  });

  it.each([true, false])('loads pg_stat_statements where it is shipped: %s', (isShipped) => {
    const settings = serverSettings(parseClusterOptions({}), isShipped);

    expect('shared_preload_libraries' in settings).toBe(isShipped);
  });
});

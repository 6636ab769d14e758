import { describe, expect, it } from '@jest/globals';
import { useOwnCluster } from '../../support/own-cluster.ts';
import { setSettings } from '../../support/set-settings.ts';

describe('setSettings', () => {
  const cluster = useOwnCluster({ replicas: 0 });

  it('changes settings of a server for the next session, and takes them back', async () => {
    const { primary } = cluster();

    for (const work_mem of ['8MB', '9MB', '10MB']) {
      await setSettings(primary, { work_mem, 'rwsplit.test': "it's" });
      expect(await primary.query('show work_mem')).toEqual([{ work_mem }]);
    }
    expect(await primary.query('show rwsplit.test')).toEqual([{ 'rwsplit.test': "it's" }]);

    await setSettings(primary, { work_mem: undefined });
    expect(await primary.query('show work_mem')).toEqual([{ work_mem: '4MB' }]);
  });
});

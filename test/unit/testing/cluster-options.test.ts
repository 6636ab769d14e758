import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../../lib/errors.ts';
import { type ClusterOptions, parseClusterOptions } from '../../../lib/testing/cluster-options.ts';

describe('parseClusterOptions', () => {
  it('completes what is left out', () => {
    expect(parseClusterOptions({ replicas: undefined })).toEqual({
      replicas: 2,
      synchronous: false,
      maxConnections: 100,
      settings: {},
      database: 'app',
      user: 'app',
    });
  });

  it('keeps what is given', () => {
    const options = {
      replicas: 0,
      synchronous: true,
      maxConnections: 4,
      settings: { fsync: 'on' },
      database: 'shop',
      user: 'boss',
    };

    expect(parseClusterOptions(options)).toEqual(options);
  });

  it.each<[string, ClusterOptions, string]>([
    ['replicas', { replicas: -1 }, 'replicas is -1: give a whole number from 0 to 8.'],
    ['replicas', { replicas: 9 }, 'replicas is 9: give a whole number from 0 to 8.'],
    ['replicas', { replicas: 1.5 }, 'replicas is 1.5: give a whole number from 0 to 8.'],
    [
      'maxConnections',
      { maxConnections: 3 },
      'maxConnections is 3: give a whole number from 4 to 10000.',
    ],
    ['database', { database: 'Shop' }, 'database is "Shop": give a lower-case'],
    ['user', { user: 'pg_me' }, 'user is "pg_me": give a lower-case'],
    [
      'settings.port',
      { settings: { port: '1' } },
      'settings.port is decided by the cluster itself',
    ],
  ])('refuses %s: %j', (path, options, message) => {
    expect(() => parseClusterOptions(options)).toThrow(message);
    expect(() => parseClusterOptions(options)).toThrow(expect.objectContaining({ path }));
  });

  it.each<[string, unknown, string]>([
    ['a number for all', 5, 'startCluster is given a number: give an object.'],
    ['null for all', null, 'startCluster is given null: give an object.'],
    ['a list for all', [2], 'startCluster is given a list: give an object.'],
    ['a string for the settings', { settings: 'a' }, 'settings is given a string: give an object.'],
    ['an option that does not exist', { replica: 1 }, 'startCluster has no option "replica"'],
    ['a string for a flag', { synchronous: 'yes' }, 'synchronous is yes: give true or false.'],
    [
      'a number for a setting',
      { settings: { work_mem: 4 } },
      'settings.work_mem is 4: give a string.',
    ],
  ])('refuses %s, which only JavaScript can give', (_, given, message) => {
    const options = given as ClusterOptions;

    expect(() => parseClusterOptions(options)).toThrow(ConfigError);
    expect(() => parseClusterOptions(options)).toThrow(message);
  });
});

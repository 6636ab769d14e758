import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { knex } from 'knex';
import * as pg from 'pg';
import { ConfigError, RWSplitClient } from '../../../lib/index.ts';
import { refuseNative } from '../../../lib/knex/refuse-native.ts';
import { createFakeDriver, overDriver } from '../../support/fake-driver.ts';

describe('refuseNative', () => {
  const driver = createFakeDriver();

  class NativeClient extends driver.Client {
    _hasActiveQuery(): boolean {
      return false;
    }
  }

  const open = (rwSplit: object): (() => unknown) => {
    const client = overDriver(RWSplitClient, { ...driver, Client: NativeClient });
    return () => knex({ client, connection: { host: 'primary' }, ...rwSplit });
  };

  it('refuses pg-native for a client that splits, at its construction', () => {
    expect(open({ rwSplit: { replicas: [{ host: 'replica' }] } })).toThrow(ConfigError);
    expect(open({ rwSplit: { replicas: [] } })).toThrow('The driver is pg-native');
  });

  it('leaves a client that splits nothing alone', () => {
    expect(open({})).not.toThrow();
  });

  it('knows pg-native by a method that pg does not have', () => {
    const source = readFileSync(require.resolve('pg/lib/native/client.js'), 'utf8');

    expect(source).toContain('Client.prototype._hasActiveQuery');
    expect(() => refuseNative(pg)).not.toThrow();
  });
});

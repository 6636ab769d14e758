import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { knex as ownKnex } from 'knex';
import { createRWSplitClient, rwSplit, RWSplitClient } from '../../../lib/index.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';
import { root } from '../../support/source-file.ts';

describe('A second copy of Knex in the tree', () => {
  const cluster = useRoutingDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'rwsplit-knex-copy-'));
  let copy: typeof import('knex');

  beforeAll(() => {
    const modules = join(folder, 'node_modules');
    const source = join(root, 'node_modules/knex');
    mkdirSync(modules);
    cpSync(source, join(modules, 'knex'), { recursive: true });
    const { dependencies } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    for (const name of [...Object.keys(dependencies), 'pg', 'pg-query-stream']) {
      symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction');
    }
    copy = require(join(modules, 'knex')) as typeof import('knex');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has classes of its own', () => {
    expect(copy.knex).not.toBe(ownKnex);
    expect(copy.Client).not.toBe(ownKnex.Client);
  });

  it.each(['the module', 'its function'])('gets a client of its own, made of %s', async (form) => {
    const Client = createRWSplitClient(form === 'the module' ? copy : copy.knex);
    const replicas = cluster().replicas.map(({ name, host, port }) => ({ name, host, port }));
    const db = copy.knex({
      client: Client,
      connection: cluster().connection(),
      rwSplit: { replicas },
    });
    await db.raw('select 1');

    expect(db.client).toBeInstanceOf(copy.Client);
    expect(db.client).not.toBeInstanceOf(ownKnex.Client);
    expect(rwSplit(db).hosts()).toHaveLength(3);
    expect(await db('notes').insert({ rank: 1 })).toMatchObject({ rowCount: 1 });
    expect(await db.transaction(async (trx) => trx('here').pluck('host'))).toEqual(['primary']);
    expect(await db.migrate.currentVersion()).toBe('none');
    expect(await db('here').stream().toArray()).toHaveLength(1);

    const timeout = await db
      .raw('select pg_sleep(5)')
      .timeout(50, { cancel: true })
      .catch((error: unknown) => error);
    expect(timeout).toBeInstanceOf(copy.KnexTimeoutError);
    await db.destroy();
  });

  it('leaves the client of the first one alone', () => {
    createRWSplitClient(copy);

    const db = ownKnex({ client: RWSplitClient });

    expect(db.client).toBeInstanceOf(ownKnex.Client);
  });
});

import { afterEach } from '@jest/globals';
import { knex, type Knex } from 'knex';
import { formatLsn } from '../../lib/consistency/lsn.ts';
import { REPLAYED, REPLAYED_ON, WRITTEN } from '../../lib/consistency/questions.ts';
import { RWSplitClient } from '../../lib/index.ts';
import { clientOf } from '../../lib/knex/internals.ts';
import type { RWSplit } from '../../lib/knex/rw-split.ts';
import { splitOf } from '../../lib/knex/split-state.ts';
import { createFakeDriver, overDriver } from './fake-driver.ts';
import type { FakeDriver, FakeRequest } from './fake-driver.ts';

const HEX = 16;

/** A primary and a replica without a network, which have positions and tell them. */
export interface FakePositions {
  readonly db: Knex;
  readonly split: () => RWSplit;
  readonly driver: FakeDriver;
  /** What each server answers with; to be changed as the test goes on. */
  readonly primary: { lsn: bigint; timeline: number };
  readonly replica: { lsn: bigint; timeline: number };
  /** Fails what it throws for; called before a server answers. */
  onRequest: (request: FakeRequest) => void;
  /** What was sent since the last call, as `host: text` with our questions by their names. */
  readonly sent: () => string[];
}

/** Makes them for the tests of a file; each is ended with its test. Every insert moves the primary on. */
export function useFakePositions(): (rwSplit?: object) => Promise<FakePositions> {
  const made: Knex[] = [];
  afterEach(async () => {
    await Promise.all(made.splice(0).map((db) => db.destroy()));
  });

  return async (rwSplit = {}) => {
    const primary = { lsn: 0x100n, timeline: 1 };
    const replica = { lsn: 0x100n, timeline: 1 };
    const driver = createFakeDriver(
      (request) => {
        const { host, text } = request;
        servers.onRequest(request);
        const { lsn, timeline } = host === 'primary' ? primary : replica;
        if (text.includes('serverStart')) return [{ serverAddress: host, serverStart: '1' }];
        if (text === WRITTEN) {
          return [{ lsn: formatLsn(lsn), timeline: timeline.toString(HEX).padStart(8, '0') }];
        }
        if (text === REPLAYED) return [{ lsn: formatLsn(lsn) }];
        if (text === REPLAYED_ON) return [{ lsn: formatLsn(lsn), timeline: String(timeline) }];
        if (text.startsWith('insert')) primary.lsn += 0x100n;
        return undefined;
      },
      (host) => {
        const { lsn, timeline } = host === 'primary' ? primary : replica;
        return {
          serverAddress: host,
          serverStart: '1',
          position: formatLsn(lsn),
          writtenTimeline: host === 'primary' ? timeline.toString(HEX).padStart(8, '0') : null,
          receivedTimeline: host === 'primary' ? null : String(timeline),
        };
      },
    );
    const db = knex({
      client: overDriver(RWSplitClient, driver),
      connection: { host: 'primary' },
      rwSplit: { replicas: [{ host: 'replica' }], ...rwSplit },
      acquireConnectionTimeout: 1000,
    });
    made.push(db);

    let read = 0;
    const servers: FakePositions = {
      db,
      driver,
      primary,
      replica,
      split() {
        const split = splitOf(clientOf(db));
        if (split === undefined) throw new Error('It was destroyed.');
        return split;
      },
      onRequest: () => undefined,
      sent() {
        const fresh = driver.requests.slice(read);
        read = driver.requests.length;
        return fresh
          .map(({ host, text }) => `${host}: ${nameOf(text)}`)
          .filter((line) => !line.endsWith(' own'));
      },
    };
    // Opens a connection to each.
    await db.raw('select 1').queryContext({ rwSplit: { host: 'primary:5432' } });
    await db.raw('select 1').queryContext({ rwSplit: { host: 'replica:5432' } });
    servers.sent();
    return servers;
  };
}

// Not of the test: the version, who the server of a new connection is, and look-ups of the catalog.
function nameOf(text: string): string {
  if (text === WRITTEN) return 'WRITTEN';
  if (text === REPLAYED) return 'REPLAYED';
  if (text === REPLAYED_ON) return 'REPLAYED_ON';
  return /version\(\)|serverStart|^with /.test(text) ? 'own' : (text.split(' ', 1)[0] ?? '');
}

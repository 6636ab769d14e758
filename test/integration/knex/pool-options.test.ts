import { describe, expect, it } from '@jest/globals';
import type { Knex } from 'knex';
import { until } from '../../../lib/testing/until.ts';
import { useInstances } from '../../support/instances.ts';
import { useRoutingDatabase } from '../../support/routing-database.ts';

interface Connection {
  readonly processID: number;
}

type Done = (error?: unknown, connection?: unknown) => void;

/** What hooks and functions note of the calls that they get. */
type Note = (what: string) => void;

/** A configuration with hooks that note, and what is done with it. */
interface Case {
  readonly config: (note: Note, connection: Knex.PgConnectionConfig) => Knex.Config;
  readonly use: (db: Knex, note: Note) => Promise<unknown>;
}

const pidOf = async (db: Knex): Promise<number> =>
  Number((await db.raw('select pg_backend_pid() as pid')).rows[0].pid);

/** Whether one query after another, with a turn of the event loop between them, has the same connection. */
const reuse = async (db: Knex): Promise<readonly boolean[]> => {
  const pids = [await pidOf(db), await pidOf(db), await pidOf(db)];
  return pids.map((pid) => pid === pids[0]);
};

const pool = (settings: object): Case['config'] => {
  return () => ({ pool: { min: 0, max: 1, ...settings } });
};

const hook =
  (make: (note: Note) => object): Case['config'] =>
  (note) => ({ pool: { min: 0, max: 1, ...make(note) } });

const from =
  (make: (note: Note, connection: Knex.PgConnectionConfig) => unknown): Case['config'] =>
  (note, connection) => {
    const noted = new Set<string>();
    // The probe has a connection of its own, for which it asks, too.
    const noteOnce: Note = (what) => {
      if (!noted.has(what)) note(what);
      noted.add(what);
    };
    return {
      pool: { min: 0, max: 1 },
      connection: make(noteOnce, connection) as Knex.StaticConnectionConfig,
    };
  };

const whenFull: Case['use'] = async (db) => {
  const holder = await db.transaction();
  try {
    return await pidOf(db);
  } finally {
    await holder.rollback();
  }
};

const cases: Readonly<Record<string, Case>> = {
  'pool.afterCreate that answers at once': {
    config: hook((note) => ({
      afterCreate(connection: Connection, done: Done) {
        note(typeof connection.processID);
        done(null, connection);
      },
    })),
    use: reuse,
  },
  'pool.afterCreate that fails': {
    config: hook((note) => ({
      afterCreate(_: Connection, done: Done) {
        note('asked');
        done(new RangeError('not this one'));
      },
    })),
    use: async (db) => pidOf(db),
  },
  'pool.validate that refuses once': {
    config: hook((note) => {
      let isFirst = true;
      return {
        validate(connection: Connection) {
          note(typeof connection.processID);
          const isWell = !isFirst;
          isFirst = false;
          return isWell;
        },
      };
    }),
    use: reuse,
  },
  'pool.validate that is asynchronous': {
    config: hook((note) => ({
      async validate(connection: Connection) {
        note(typeof connection.processID);
        return true;
      },
    })),
    use: reuse,
  },
  'pool.validate that throws once': {
    config: hook((note) => {
      let isFirst = true;
      return {
        validate() {
          note('asked');
          const isWell = !isFirst;
          isFirst = false;
          if (isWell) return true;
          throw new RangeError('not this one');
        },
      };
    }),
    use: reuse,
  },
  'pool.maxConnectionLifetimeMillis that is over': {
    config: pool({ maxConnectionLifetimeMillis: 100 }),
    use: async (db) => {
      const first = await pidOf(db);
      await until('its time is over', 5000, async () => (await pidOf(db)) !== first);
      return db.client.pool.numFree();
    },
  },
  'pool.maxConnectionLifetimeMillis that is not over': {
    config: pool({ maxConnectionLifetimeMillis: 60_000, maxConnectionLifetimeJitterMillis: 10 }),
    use: reuse,
  },
  'acquireConnectionTimeout, and a full pool': {
    config: (note) => ({ ...pool({})(note, {}), acquireConnectionTimeout: 800 }),
    use: whenFull,
  },
  'acquireConnectionTimeout, and a full pool in asyncStackTraces': {
    config: (note) => ({
      ...pool({})(note, {}),
      acquireConnectionTimeout: 800,
      asyncStackTraces: true,
    }),
    use: whenFull,
  },
  'pool.acquireTimeoutMillis below acquireConnectionTimeout, and a full pool': {
    config: (note) => ({
      ...pool({ acquireTimeoutMillis: 800 })(note, {}),
      acquireConnectionTimeout: 30_000,
    }),
    use: whenFull,
  },
  'acquireConnectionTimeout, and a transaction that needs a second connection': {
    config: (note) => ({ ...pool({})(note, {}), acquireConnectionTimeout: 800 }),
    use: async (db) => db.transaction(async () => db.transaction(async () => 1)),
  },
  'connection as a function': {
    config: from((note, connection) => () => {
      note('asked');
      return connection;
    }),
    use: reuse,
  },
  'connection as an asynchronous function': {
    config: from((note, connection) => async () => {
      note('asked');
      return connection;
    }),
    use: reuse,
  },
  'connection as a function that throws': {
    config: from((note) => () => {
      note('asked');
      throw new RangeError('no secret today');
    }),
    use: async (db) => pidOf(db),
  },
  'expirationChecker that says no': {
    config: from((note, connection) => () => {
      note('asked');
      return {
        ...connection,
        expirationChecker() {
          note('checked');
          return false;
        },
      };
    }),
    use: reuse,
  },
  'expirationChecker that says yes once': {
    config: from((note, connection) => {
      let isExpired = false;
      return async () => {
        note('asked');
        isExpired = !isExpired;
        const was = isExpired;
        return {
          ...connection,
          expirationChecker() {
            note('checked');
            return was;
          },
        };
      };
    }),
    use: reuse,
  },
  'pool.max of 2, and four queries at once': {
    config: pool({ max: 2 }),
    use: async (db) => {
      // Long enough that the second connection is there before the first one is free.
      const text = 'select pg_backend_pid() as pid, pg_sleep(0.2)';
      const results = await Promise.all([1, 2, 3, 4].map(async () => db.raw(text)));
      const pids = results.map(({ rows }) => Number(rows[0].pid));
      return [new Set(pids).size, db.client.pool.numUsed(), db.client.pool.numFree()];
    },
  },
  'listeners of its pool': {
    config: pool({}),
    use: async (db, note) => {
      const names = ['createSuccess', 'acquireSuccess', 'release', 'destroySuccess'];
      for (const name of names) db.client.pool.on(name, () => note(name));
      return reuse(db);
    },
  },
};

describe('With one host, and with', () => {
  const cluster = useRoutingDatabase();
  const { alone, plain } = useInstances(cluster);

  /** What came of it, and what was noted and logged meanwhile. */
  async function observe(
    { config, use }: Case,
    open: (config: Knex.Config) => Knex,
  ): Promise<unknown> {
    const noted: string[] = [];
    const logged: string[] = [];
    const log = (line: unknown): void => void logged.push(firstWords(line));
    const note: Note = (what) => void noted.push(what);
    const db = open({
      ...config(note, cluster().connection()),
      log: { warn: log, error: log, debug: log, deprecate: log },
    });
    const outcome = await use(db, note).then(
      (result) => ({ result }),
      ({ name, message, ...more }: Error & { sql?: unknown; bindings?: unknown }) => ({
        name,
        message: firstWords(message),
        sql: more.sql,
        bindings: more.bindings,
      }),
    );
    return { outcome, noted: tally(noted), logged };
  }

  it.each(Object.entries(cases))('%s, all is as in plain Knex', async (_, it) => {
    const expected = await observe(it, plain);

    expect(await observe(it, alone)).toEqual(expected);
  });
});

function tally(noted: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const what of noted) counts[what] = (counts[what] ?? 0) + 1;
  return counts;
}

/** What a text says before it goes into what this package knows better. */
function firstWords(text: unknown): string {
  return String(text).split(/\n|\. |: (?:operation timed out|no connection of)/)[0] ?? '';
}

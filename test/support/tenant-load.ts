import type { Knex } from 'knex';
import { rwSplit } from '../../lib/index.ts';
import { seededRandom } from './seeded-random.ts';
import { outcomeOf, tenantIncidents } from './tenant-incidents.ts';
import { type Asker, askNobody, isNobody, isOwn, tenantQueries } from './tenant-queries.ts';
import type { Tenants } from './tenant-schema.ts';

/** What tenants do, all at once. */
export interface TenantLoad {
  /** The instances that they share. */
  readonly dbs: readonly Knex[];
  readonly tenants: Tenants;
  /** How many queries, incidents among them. */
  readonly queries: number;
  readonly concurrency: number;
  /** How many of the queries are incidents, from 0 to 1. */
  readonly incidentShare: number;
}

/** What came of a {@link TenantLoad}. */
export interface TenantReport {
  /** Answers that belong to someone else. */
  readonly strangers: readonly unknown[];
  /** What failed, and shouldn't have; and incidents that did not come as they should. */
  readonly failures: readonly unknown[];
  /** How often each kind of query and incident ran. */
  readonly counts: ReadonlyMap<string, number>;
  /** The most connections that a pool held at once. */
  readonly held: number;
}

const nobodyShare = 0.03;

/** Runs random queries of random tenants, and looks at what each of them gets. */
export async function runTenantLoad(load: TenantLoad): Promise<TenantReport> {
  const { dbs, tenants, concurrency, incidentShare } = load;
  const random = seededRandom(7);
  const strangers: unknown[] = [];
  const failures: unknown[] = [];
  const counts = new Map<string, number>();
  let left = load.queries;
  let held = 0;

  const count = (kind: string): void => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const check = async (
    kind: string,
    asked: Promise<readonly Asker[]>,
    isRight: (answer: Asker) => boolean,
  ): Promise<void> => {
    count(kind);
    const answers = await asked;
    if (answers.length === 0 || !answers.every(isRight)) strangers.push({ kind, answers });
  };

  const turn = async (): Promise<void> => {
    // Some come often: what is believed of a connection has to be right where it is used again.
    const among = random() < 0.5 ? 3 : tenants.names.length;
    const name = oneOf(tenants.names.slice(0, among), random);
    const db = oneOf(dbs, random);
    const tenant = rwSplit(db).withState(tenants.state(name));
    const kind = random();

    if (kind < incidentShare) {
      const [, incident, expected, happen] = shareOf(tenantIncidents, random);
      count(incident);
      const outcome = await outcomeOf(happen(tenant));
      if (outcome !== expected) failures.push({ incident, outcome });
    } else if (kind < incidentShare + nobodyShare) {
      await check('nobody', askNobody(db), (answer) => isNobody(answer, tenants));
    } else {
      const [, query, ask] = shareOf(tenantQueries, random);
      const asked = ask({ db, tenants, name, tenant });
      await check(query, asked, (answer) => isOwn(answer, name));
    }
  };
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      await turn().catch((error: unknown) => failures.push(error));
      for (const { pool } of dbs.flatMap((db) => rwSplit(db).hosts())) {
        held = Math.max(held, pool.used + pool.free);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));

  return { strangers, failures, counts, held };
}

function oneOf<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('There is nothing to choose from.');
  return item;
}

// Shares of a hundred.
function shareOf<T extends readonly [share: number, ...rest: unknown[]]>(
  table: readonly T[],
  random: () => number,
): T {
  let at = random() * 100;
  const found = table.find(([share]) => {
    at -= share;
    return at < 0;
  });
  if (found === undefined) throw new Error('The shares are not a hundred.');
  return found;
}

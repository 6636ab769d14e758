import type { QueryName } from './subjects/subject.ts';

const rawReason = "hands the text to pg's pool as it is";
const streamReason = 'does not pass each row through a stream of its own, as Knex does';

/** Why a library is faster at a query than this package, where that was looked into. */
export const knownReasons: Readonly<Record<string, Readonly<Partial<Record<QueryName, string>>>>> =
  {
    TypeORM: { raw: rawReason, stream: streamReason },
    Drizzle: { raw: rawReason },
    'kysely-replication': { raw: rawReason, stream: streamReason },
  };

import type { QueryName } from './subjects/subject.ts';

const rawReason = "hands the text to pg's pool as it is";
const streamReason = 'does not pass each row through a stream of its own, as Knex does';

/** Why a query is slower than with another library, where that was looked into. */
export type Reasons = Readonly<Partial<Record<QueryName, string>>>;

/** Why a library is faster at a query than this package, where that was looked into. */
export const knownReasons: Readonly<Record<string, Reasons>> = {
  TypeORM: { raw: rawReason, stream: streamReason },
  Drizzle: { raw: rawReason },
  'kysely-replication': {
    read: 'asks for its row without a LIMIT, and has no events for each query',
    transaction: 'makes no instance for each transaction, as Knex does',
    raw: rawReason,
    stream: streamReason,
  },
  MikroORM: { raw: 'sends raw text to the primary alone: one server costs this machine less' },
};

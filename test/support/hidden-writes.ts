import type { Knex } from 'knex';

/** Functions that their owner declares to be harmless, and that are not: no catalog shows that. */
export const hiddenWrites = `
  create sequence numbers;
  create unlogged table unlogged (id int);
  create function writes() returns text stable language plpgsql
    as $$ begin perform nextval('numbers'); return served_by(); end $$;
  create function reads_unlogged() returns text stable language plpgsql
    as $$ begin perform from unlogged; return served_by(); end $$;
  create function asks_position() returns text stable language plpgsql
    as $$ begin perform pg_current_wal_lsn(); return served_by(); end $$;
  create function raises(code text) returns int stable language plpgsql
    as $$ begin raise exception 'refused' using errcode = code; end $$;
`;

/** A query that looks like a read to everyone but PostgreSQL. */
export function hidden(db: Knex): Knex.QueryBuilder {
  return db.from(db.raw('writes() as host'));
}

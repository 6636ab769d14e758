/** What a statement needs: any host that reads, the primary, or a session of its own. */
export type Intent = 'read' | 'write' | 'session';

/** What a statement does to session-level advisory locks. */
export type LockUse = 'lock' | 'unlock' | 'unlock-all';

/** What the classifier says of one text. */
export interface Verdict {
  readonly intent: Intent;
  /**
   * False where the intent is `write` only because nothing proved otherwise (unknown function,
   * unparsable text); a proved write is one on any server.
   */
  readonly proved: boolean;
  /** For people and events, e.g. `locks rows`, `calls nextval`, `unknown function shop.f`. */
  readonly reason: string;
  /**
   * The session state that the text leaves behind on its connection, e.g. `SET search_path`,
   * `LISTEN`, `PREPARE`, `temporary table`; absent where it leaves none.
   */
  readonly sessionChange?: string | undefined;
  /**
   * From the text on, a table that is created without a schema may be a temporary one: the search
   * path of the transaction may begin with `pg_temp`.
   */
  readonly mayMakeTemporary?: true | undefined;
  /** Session-level advisory locks taken or given back by the text. */
  readonly lockUse?: LockUse | undefined;
  /** The text opens a transaction, or a savepoint, that it does not end itself: `BEGIN`, `SAVEPOINT`, … */
  readonly opensTransaction?: string | undefined;
  /** The text changes the catalog, so what was learnt from it is stale; code that does so is not seen. */
  readonly changesCatalog: boolean;
  /** Nothing was learnt from the text itself: it could not be parsed, or is too long to try. */
  readonly isUnread?: true | undefined;
}

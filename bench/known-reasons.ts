import type { QueryName } from './subjects/subject.ts';

/** Why a peer is faster at a query than this package, where that was looked into. */
export const knownReasons: Readonly<Record<string, Readonly<Partial<Record<QueryName, string>>>>> =
  {};

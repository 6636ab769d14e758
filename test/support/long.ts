/** Whether `npm run test:long` asks for the long form of a test. */
export const isLong: boolean = process.env['RWSPLIT_LONG'] !== undefined;

/** How much a test does: so much in every run, twenty times that in a long one. */
export function amount(everyRun: number): number {
  return isLong ? everyRun * 20 : everyRun;
}

/** The given cases of a table in a long run, and none in every other. */
export function inLong<T>(...cases: readonly T[]): readonly T[] {
  return isLong ? cases : [];
}

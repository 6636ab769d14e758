import { withoutComments } from './scan.ts';

const queries =
  /^[\s(]*(?:select|with|values|table|insert|update|delete|merge|explain|show|copy)\b/i;
const anotherStatement = /;\s*\S/;

/** Tells whether a text that cannot be parsed, or is too long for it, may change the schema. */
export function mayChangeSchema(text: string): boolean {
  const bare = withoutComments(text) ?? text;
  return !queries.test(bare) || anotherStatement.test(bare);
}

import { skipQuoted } from './scan.ts';

const queries =
  /[\s(]*(?:select|with|values|table|insert|update|delete|merge|explain|show|copy)\b/iy;
const anotherStatement = /;\s*\S/;

/** Tells whether a text that cannot be parsed, or is too long for it, may change the schema. */
export function mayChangeSchema(text: string): boolean {
  queries.lastIndex = endOfComments(text);
  return !queries.test(text) || anotherStatement.test(text);
}

function endOfComments(text: string): number {
  let start = 0;
  for (;;) {
    while (/\s/.test(text.charAt(start))) start++;
    const isComment = text.startsWith('--', start) || text.startsWith('/*', start);
    const end = isComment ? skipQuoted(text, start) : start;
    if (end <= start) return start;
    start = end;
  }
}

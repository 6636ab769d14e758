import { skipQuoted } from './scan.ts';

// PostgreSQL takes 65,535 parameters: a text beyond this is long for another reason.
const longestShortened = 256 * 1024;

/**
 * Shortens every list of three or more `?` to two, and every list of such lists, so that texts
 * that differ only in the length of their lists become one.
 *
 * What is inside literals, quoted names and comments stays as it is; a text with an unterminated
 * one is returned untouched.
 */
export function shortenPlaceholderLists(text: string): string {
  if (text.length > longestShortened || !text.includes('?')) return text;
  const shorter = shortenLists(text, endOfPlaceholder);
  return shorter === undefined ? text : (shortenLists(shorter, endOfPair) ?? text);
}

type ItemEnd = (text: string, start: number) => number;

// Two items stay: `(?, ?) overlaps (?, ?)` parses where `(?) overlaps (?)` does not.
function shortenLists(text: string, endOfItem: ItemEnd): string | undefined {
  const pieces: string[] = [];
  let kept = 0;

  for (let i = 0; i < text.length;) {
    const end = skipQuoted(text, i);
    if (end < 0) return undefined;
    if (end > i) i = end;
    else if (text[i] === '\\') i += 2;
    else {
      const first = endOfItem(text, i);
      if (first < 0) i++;
      else {
        const second = endOfNext(text, first, endOfItem);
        let last = second;
        for (let next = last; next > 0; next = endOfNext(text, next, endOfItem)) last = next;
        if (last > second) {
          pieces.push(text.slice(kept, second));
          kept = last;
        }
        i = Math.max(first, last);
      }
    }
  }

  return pieces.length === 0 ? text : pieces.join('') + text.slice(kept);
}

function endOfNext(text: string, end: number, endOfItem: ItemEnd): number {
  const comma = skipSpace(text, end);
  return text[comma] === ',' ? endOfItem(text, skipSpace(text, comma + 1)) : -1;
}

function endOfPlaceholder(text: string, start: number): number {
  // `??` is an identifier to Knex, `?|` and `?&` are operators of PostgreSQL.
  return text[start] === '?' && !'?|&'.includes(text[start + 1] ?? ' ') ? start + 1 : -1;
}

function endOfPair(text: string, start: number): number {
  if (text[start] !== '(') return -1;
  const first = endOfPlaceholder(text, skipSpace(text, start + 1));
  if (first < 0) return -1;
  const second = endOfNext(text, first, endOfPlaceholder);
  const close = skipSpace(text, second < 0 ? first : second);
  return text[close] === ')' ? close + 1 : -1;
}

function skipSpace(text: string, start: number): number {
  let i = start;
  while (text[i] === ' ' || text[i] === '\n' || text[i] === '\t' || text[i] === '\r') i++;
  return i;
}

import { skipQuoted } from './scan.ts';

// PostgreSQL takes 65,535 parameters: a text beyond this is long for another reason.
const longestShortened = 256 * 1024;

const space = String.raw`[ \n\t\r]*`;
const comma = `${space},${space}`;
const inName = String.raw`[\w$\u0080-\uffff]`;
// `??` is an identifier to Knex, `?|` and `?&` are operators of PostgreSQL.
const placeholder = String.raw`(?:\?(?![?|&])|(?<!${inName})\$\d+(?!${inName}))`;
const list = String.raw`\(${space}${placeholder}(?:${comma}${placeholder})*${space}\)`;

/** Items of one kind behind each other. */
interface Series {
  /** What an item may begin with, or what is to be skipped. */
  readonly begin: RegExp;
  /** The items that stay. */
  readonly two: RegExp;
  /** Those that don't. */
  readonly more: RegExp;
}

const placeholders = seriesOf(placeholder, '?');
const lists = seriesOf(list, '(');
const anyLists = new RegExp(String.raw`\)${comma}\(`);

/**
 * Shortens every list of three or more placeholders, `?` or `$n`, to two, and every list of such
 * lists, so that texts that differ only in the length of their lists become one.
 *
 * What is inside literals, quoted names and comments stays as it is; a text with an unterminated
 * one is returned untouched.
 */
export function shortenPlaceholderLists(text: string): string {
  if (text.length > longestShortened || !(text.includes('?') || text.includes('$1'))) return text;
  const shorter = anyLists.test(text) ? shorten(text, lists) : text;
  return shorter === undefined ? text : (shorten(shorter, placeholders) ?? text);
}

// Two items stay: `(?, ?) overlaps (?, ?)` parses where `(?) overlaps (?)` does not.
function seriesOf(item: string, first: string): Series {
  return {
    begin: new RegExp(String.raw`['"\-/$\\${first}]`, 'g'),
    two: new RegExp(`${item}(?:${comma}${item})?`, 'y'),
    more: new RegExp(`(?:${comma}${item})+`, 'y'),
  };
}

// By regular expressions, and not character by character: a list of a thousand is a long text.
function shorten(text: string, { begin, two, more }: Series): string | undefined {
  const pieces: string[] = [];
  let kept = 0;
  let isShorter = false;

  for (let i = 0; ;) {
    begin.lastIndex = i;
    if (!begin.test(text)) break;
    i = begin.lastIndex - 1;
    const end = skipQuoted(text, i);
    if (end < 0) return undefined;
    if (end > i) i = end;
    else if (text[i] === '\\') i += 2;
    else {
      const second = endOf(two, text, i);
      if (second === undefined) i++;
      else {
        const last = endOf(more, text, second) ?? second;
        isShorter ||= last > second;
        // The number of a placeholder tells how many there are before it.
        pieces.push(text.slice(kept, i), text.slice(i, second).replaceAll(/\$\d+/g, '$$1'));
        kept = last;
        i = last;
      }
    }
  }

  return isShorter ? pieces.join('') + text.slice(kept) : text;
}

function endOf(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

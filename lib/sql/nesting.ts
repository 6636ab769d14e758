import { isNamePart, skipQuoted } from './scan.ts';

// The parser recurses in WebAssembly on the JavaScript stack. Measured on Node's default stack:
// between 500 and 1,000 nested sub-selects overflow it, or 2,000 to 5,000 chained operators.
const deepest = 300;

const opening = new Set(['(', '[', 'case']);
const closing = new Set([')', ']', 'end']);
const nestsToTheLeft = new Set(['union', 'intersect', 'except', 'join']);
const nestsAsOperator = new Set(
  'not is isnull notnull like ilike similar collate at in between operator'.split(' '),
);

/** Tells whether a text may nest more deeply than the parser can follow without harm. */
export function isTooNested(text: string): boolean {
  // Each level takes a token of its own.
  if (text.length <= deepest || tokensIn(text) <= deepest) return false;
  const levels = new Levels();

  for (let i = 0; i < text.length;) {
    const end = skipQuoted(text, i);
    // The parser itself reports what is unterminated.
    if (end < 0) return false;
    if (end > i) {
      i = end;
      continue;
    }
    const stop = endOfToken(text, i);
    levels.take(text.slice(i, stop).toLowerCase());
    if (levels.depth > deepest) return true;
    i = stop;
  }

  return false;
}

// At least as many as count: those within quotes are among them.
function tokensIn(text: string): number {
  let tokens = 0;
  let isWithinName = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const isName = isNamePart(code);
    if (isName ? !isWithinName : code > 0x20) tokens++;
    isWithinName = isName;
  }
  return tokens;
}

class Levels {
  depth = 0;
  readonly #outer: { operators: number; chain: number }[] = [];
  #operators = 0;
  #chain = 0;

  take(token: string): void {
    if (opening.has(token)) {
      this.#outer.push({ operators: this.#operators, chain: this.#chain });
      this.#operators = 0;
      this.#chain = 0;
      this.depth++;
    } else if (closing.has(token)) this.#close();
    else if (token === ',' || token === ';') {
      this.depth -= this.#operators + this.#chain;
      this.#operators = 0;
      this.#chain = 0;
    } else if (token === 'and' || token === 'or') {
      // The grammar flattens these two.
      this.depth -= this.#operators;
      this.#operators = 0;
    } else if (nestsToTheLeft.has(token)) {
      this.#chain++;
      this.depth++;
    } else if (nestsAsOperator.has(token) || isOperator(token)) {
      this.#operators++;
      this.depth++;
    }
  }

  #close(): void {
    const outer = this.#outer.pop();
    if (outer === undefined) return;
    this.depth -= this.#operators + this.#chain + 1;
    this.#operators = outer.operators;
    this.#chain = outer.chain;
  }
}

function isOperator(token: string): boolean {
  return '+-*/<>=~!@#%^&|`?:'.includes(token);
}

function endOfToken(text: string, start: number): number {
  let i = start;
  while (i < text.length && isNamePart(text.charCodeAt(i))) i++;
  return i === start ? start + 1 : i;
}

const dollarTag = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const continuation = /^\s*(?:--[^\n\r]*[\n\r]\s*)*'/;

/**
 * Finds the end of the literal, quoted name or comment that begins at `start`.
 *
 * Returns `start` itself where none begins there, and −1 where one begins that never ends, or that
 * is too unusual to be followed.
 */
export function skipQuoted(text: string, start: number): number {
  switch (text.charCodeAt(start)) {
    case 0x27: // '
      return endOfString(text, start);
    case 0x22: // "
      return after(text, '"', start + 1);
    case 0x2d: // -
      return text[start + 1] === '-' ? endOfLine(text, start) : start;
    case 0x2f: // /
      return text[start + 1] === '*' ? endOfComment(text, start) : start;
    case 0x24: // $
      return endOfDollarString(text, start);
    default:
      return start;
  }
}

/** Tells whether the code unit can be part of an unquoted name. */
export function isNamePart(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x24 ||
    code >= 0x80
  );
}

function after(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from);
  return at < 0 ? -1 : at + what.length;
}

function endOfLine(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x0a || code === 0x0d) return i + 1;
  }
  return text.length;
}

function endOfComment(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length - 1; i++) {
    if (text[i] === '/' && text[i + 1] === '*') {
      depth++;
      i++;
    } else if (text[i] === '*' && text[i + 1] === '/') {
      depth--;
      i++;
      if (depth === 0) return i + 1;
    }
  }
  return -1;
}

// A doubled quote needs no rule of its own: the second one begins the next literal.
function endOfString(text: string, start: number): number {
  const prefix = text[start - 1];
  const escapes =
    (prefix === 'e' || prefix === 'E') && (start < 2 || !isNamePart(text.charCodeAt(start - 2)));
  if (!escapes) return after(text, "'", start + 1);

  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === "'") {
      // A doubled quote does not end an E'…', and neither does one on a later line, where the
      // literal may go on: that is too rare to be followed.
      if (text[i + 1] !== "'") return continuation.test(text.slice(i + 1)) ? -1 : i + 1;
      i++;
    }
  }
  return -1;
}

function endOfDollarString(text: string, start: number): number {
  dollarTag.lastIndex = start;
  const tag = dollarTag.exec(text)?.[0];
  if (tag === undefined) return start;
  const before = start > 0 ? text.charCodeAt(start - 1) : 0x20;
  if (!isNamePart(before)) return after(text, tag, start + tag.length);
  // `a$$` is a name, `$1$$` is not: whatever comes close to the latter is not understood.
  return before >= 0x30 && before <= 0x39 ? -1 : start;
}

/** Takes the comments out of a text; undefined where it cannot be told what is one. */
export function withoutComments(text: string): string | undefined {
  let bare = '';
  let kept = 0;

  for (let i = 0; i < text.length;) {
    const end = skipQuoted(text, i);
    if (end < 0) return undefined;
    const isComment = end > i && (text[i] === '-' || text[i] === '/');
    if (isComment) {
      bare += text.slice(kept, i) + (text[i] === '-' ? '\n' : ' ');
      kept = end;
    }
    i = Math.max(end, i + 1);
  }

  return bare + text.slice(kept);
}

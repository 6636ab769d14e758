const dollarTag = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;

/**
 * Finds the end of the literal, quoted name or comment that begins at `start`.
 *
 * Returns `start` itself where none begins there, and −1 where one begins that never ends.
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
      // Within E'…' a doubled quote continues a literal that still knows escapes.
      if (text[i + 1] !== "'") return i + 1;
      i++;
    }
  }
  return -1;
}

function endOfDollarString(text: string, start: number): number {
  if (start > 0 && isNamePart(text.charCodeAt(start - 1))) return start;
  dollarTag.lastIndex = start;
  const tag = dollarTag.exec(text)?.[0];
  return tag === undefined ? start : after(text, tag, start + tag.length);
}

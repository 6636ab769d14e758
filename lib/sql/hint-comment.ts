const longestHint = 200;
const leadingHint =
  /^(?:\/\*\s*rwsplit\s*:\s*(.*?)\s*\*\/|--[^\S\n]*rwsplit\s*:[^\S\n]*([^\n]*))/is;

/**
 * Reads the hint in the comment that a text begins with: `/* rwsplit: primary *\/` or
 * `-- rwsplit: replica`. Any other comment, and any other word in it, is no hint.
 */
export function readHintComment(text: string): 'primary' | 'replica' | undefined {
  const word = hintWord(text);
  return word === 'primary' || word === 'replica' ? word : undefined;
}

/** Says what is wrong with the hint comment of a text; undefined where it has none or a valid one. */
export function hintCommentProblem(text: string): string | undefined {
  const word = hintWord(text);
  return word === undefined || word === 'primary' || word === 'replica'
    ? undefined
    : `The comment "rwsplit: ${word.slice(0, 40)}" is no hint; write "primary" or "replica".`;
}

function hintWord(text: string): string | undefined {
  let start = 0;
  while (text.charCodeAt(start) <= 0x20) start++;
  const opening = text.charCodeAt(start);
  // Nearly every statement begins with a letter and leaves here.
  if (opening !== 0x2f && opening !== 0x2d) return undefined;

  const match = leadingHint.exec(text.slice(start, start + longestHint));
  return (match?.[1] ?? match?.[2])?.trim().toLowerCase();
}

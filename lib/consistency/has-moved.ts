import type { Mark } from './mark.ts';
import type { TokenContent } from './token.ts';

/** Whether a session that began with what a token says has something new to tell. */
export function hasMoved(content: TokenContent, from: TokenContent | undefined): boolean {
  const { written, seen, isUncertain } = content;
  return (
    isUncertain !== (from?.isUncertain ?? false) ||
    isOther(written, from?.written) ||
    isOther(seen, from?.seen)
  );
}

// What a session doesn't know, as it isn't monotonic, is nothing new.
function isOther(mark: Mark | undefined, from: Mark | undefined): boolean {
  return mark !== undefined && (mark.lsn !== from?.lsn || mark.timeline !== from.timeline);
}

import type { Connection } from '../hosts/host.ts';
import type { Verdict } from '../sql/verdict.ts';
import { sharesSessions } from '../state/session-refusal.ts';
import type { RWSplit } from './rw-split.ts';
import { hasEscapedName } from './sent-text.ts';

// A statement that begins so, or has one of the words, leaves something behind, if the text is what
// it looks like.
const LOOKS_LIKE_A_CHANGE =
  /(?:^|;|\*\/|[\n\r])[^\S\n\r]{0,64}(?:set|reset|listen|load|discard|prepare|declare)\b|[\s/]temp(?:orary)?\b|pg_temp|set_config|pg_settings|advisory/i;

/**
 * Takes the connection out of use, once it is given back, if the statement changed its session; has
 * its server asked what is left there, if it led to where temporary tables are.
 */
export function noteSessionEffect(
  split: RWSplit,
  connection: Connection,
  { sessionChange, mayMakeTemporary, isUnread }: Verdict,
  text: string,
): void {
  if (mayMakeTemporary === true) split.state.states.doubtLeftovers(connection);
  if (sessionChange !== undefined) {
    const isShared = sharesSessions(connection, split.settings.pooler);
    split.sessionChanges.note(connection, sessionChange, text, isShared);
  }
  // Nothing is known of it: a connection too many is closed rather than one too few.
  else if (isUnread === true && (LOOKS_LIKE_A_CHANGE.test(text) || hasEscapedName(text))) {
    split.sessionChanges.spoil(connection);
  }
}

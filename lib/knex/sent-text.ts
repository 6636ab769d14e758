// What leaves something behind, wherever it stands in a text.
const MAY_CHANGE_SESSION =
  /(?:^|;|\*\/|[\n\r](?<=--[^\n\r]*[\n\r]))\s*set\b|\b(?:reset|discard|listen|load|prepare|declare|temp|temporary|pg_temp\w*|set_config|pg_settings|pg_(?:try_)?advisory_lock\w*)\b/i;

// What code may do that can neither be seen in its session nor be put right; a name may be anything.
const CODE_CHANGES_SESSION =
  /(?:^|[;'$]|\*\/|\b(?:begin|then|else|loop)|[\n\r](?<=--[^\n\r]*[\n\r]))\s*set\b(?!\s+local\b)|\b(?:set_config|pg_settings)\b|\breset\s+["\w]|\bload\s*(?:e|u&)?['$]/i;

// The action of an upsert begins with the same word; in a comment within a comment it is not looked for.
const IS_CODE =
  /(?:^|;|\*\/|[\n\r])[^\S\n\r]*(?:call|do(?!(?:\s|--[^\n\r]*[\n\r]|\/\*(?:[^*/]|\*(?!\/)|\/(?!\*))*\*\/)+(?:update|nothing)\b))\b/i;

// PostgreSQL's own, and those of its extensions. One expression for this and the above takes twice as long.
const CALLS_WITH_CODE = /_to_xml|\bts_(?:stat|rewrite)\b|crosstab|connectby|xpath_table/i;

const ESCAPED_NAME = /(?<![\w$])u&"/i;

/** Whether a text that nothing else has read may change its session. */
export function mayChangeSession(text: string): boolean {
  return MAY_CHANGE_SESSION.test(text);
}

/** Whether a text is code, or calls what runs the text that it is given, whatever that says. */
export function runsCode(text: string): boolean {
  return IS_CODE.test(text) || CALLS_WITH_CODE.test(text) || hasEscapedName(text);
}

/** Whether code names a change of its session that lasts unseen. */
export function codeChangesSession(text: string): boolean {
  return CODE_CHANGES_SESSION.test(text);
}

/** Whether a text may have a name in numbers, as in `U&"set\005fconfig"`. */
export function hasEscapedName(text: string): boolean {
  return text.includes('&"') && ESCAPED_NAME.test(text);
}

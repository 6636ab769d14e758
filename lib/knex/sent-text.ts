// What leaves something behind, wherever it stands in a text.
const MAY_CHANGE_SESSION =
  /(?:^|;|\*\/|[\n\r](?<=--[^\n\r]*[\n\r]))\s*set\b|\b(?:reset|discard|listen|load|prepare|declare|temp|temporary|pg_temp\w*|set_config|pg_settings|pg_(?:try_)?advisory_lock\w*)\b|u&"/i;

// Statements that are code, and functions that run the text that they are given; a name that is
// written in numbers may be theirs.
const RUNS_CODE =
  /(?:^|;|\*\/|[\n\r])[^\S\n\r]*(?:call|do)\b|(?:query|cursor)_to_xml|\b(?:ts_stat|ts_rewrite|crosstab\w*|connectby|xpath_table)\b|u&"/i;

/** Whether a text that nothing else has read may change its session. */
export function mayChangeSession(text: string): boolean {
  return MAY_CHANGE_SESSION.test(text);
}

/** Whether a text runs code that may change its session, whatever it is that the text says. */
export function runsCode(text: string): boolean {
  return RUNS_CODE.test(text);
}

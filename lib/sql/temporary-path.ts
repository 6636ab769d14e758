/**
 * Whether a value of a setting may make the next table that is created a temporary one, although
 * nothing in its own text says so.
 *
 * @param setting undefined where its name is only known to the server; so is the value.
 */
export function mayBeTemporaryPath(
  setting: string | undefined,
  value: string | undefined,
): boolean {
  const isPath = setting === undefined || /^search_path$/i.test(setting);
  return isPath && (value === undefined || /pg_temp/i.test(value));
}

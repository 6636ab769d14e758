/** The expressions whose values tell one server process from all others. */
export const serverIdentityParts = {
  serverAddress: 'pg_catalog.host(pg_catalog.inet_server_addr())',
  serverPort: "pg_catalog.current_setting('port')",
  // As a number: the text of a time depends on the session's time zone.
  serverStart: 'extract(epoch from pg_catalog.pg_postmaster_start_time())',
} as const;

/** What a server answered to {@link serverIdentityParts}. */
export type ServerIdentityAnswers = Readonly<
  Partial<Record<keyof typeof serverIdentityParts, string | undefined>>
>;

/**
 * Names a server process by address, port and start time; undefined where it does not tell the last.
 *
 * Two connections of which it is the same have the same server, whatever name they were opened by.
 */
export function serverIdentity({
  serverAddress = 'local',
  serverPort = '',
  serverStart,
}: ServerIdentityAnswers): string | undefined {
  return serverStart === undefined ? undefined : `${serverAddress}:${serverPort} ${serverStart}`;
}

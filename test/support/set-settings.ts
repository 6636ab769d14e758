import { Client } from 'pg';
import type { TestHost } from '../../lib/testing/index.ts';
import { until } from '../../lib/testing/until.ts';

const reloadMillis = 5000;

// The methods are as old as pg; its functions of these names are not.
const { escapeIdentifier, escapeLiteral } = Client.prototype;

/**
 * Changes settings of one running server, and resolves when new sessions begin with them;
 * `undefined` takes one back.
 */
export async function setSettings(
  host: TestHost,
  settings: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    await host.query(
      value === undefined
        ? `alter system reset ${escapeIdentifier(name)}`
        : `alter system set ${escapeIdentifier(name)} = ${escapeLiteral(value)}`,
    );
  }
  const before = await loadTime(host);
  await host.query('select pg_reload_conf()');
  await until(
    `${host.name} has read its settings`,
    reloadMillis,
    async () => (await loadTime(host)) !== before,
  );
}

async function loadTime(host: TestHost): Promise<string | undefined> {
  const [row] = await host.query<{ at: string }>('select pg_conf_load_time()::text as at');
  return row?.at;
}

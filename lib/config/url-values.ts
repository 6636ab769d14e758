const numbers: ReadonlySet<string> = new Set([
  'connectionTimeoutMillis',
  'idle_in_transaction_session_timeout',
  'keepAliveInitialDelayMillis',
  'lock_timeout',
  'query_timeout',
  'statement_timeout',
]);
const booleans: ReadonlySet<string> = new Set(['keepAlive', 'enableChannelBinding', 'binary']);

/** Gives the parameters of a URL, all of them texts, the types and names that `pg` expects. */
export function typeUrlValues(
  settings: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const typed = Object.entries(settings).map(([name, value]) => [name, typeValue(name, value)]);
  return { ...connectTimeout(settings['connect_timeout']), ...Object.fromEntries(typed) };
}

// libpq's name for it, in seconds, which pg does not read.
function connectTimeout(value: unknown): Readonly<Record<string, number>> {
  const seconds = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : 0;
  return seconds > 0 ? { connectionTimeoutMillis: seconds * 1000 } : {};
}

function typeValue(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (numbers.has(name) && /^\d+$/.test(value)) return Number(value);
  if (booleans.has(name) && /^(?:true|false)$/.test(value)) return value === 'true';
  return value;
}

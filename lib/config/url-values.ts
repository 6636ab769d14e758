const numbers: ReadonlySet<string> = new Set([
  'connectionTimeoutMillis',
  'idle_in_transaction_session_timeout',
  'keepAliveInitialDelayMillis',
  'lock_timeout',
  'query_timeout',
  'statement_timeout',
]);
const booleans: ReadonlySet<string> = new Set(['keepAlive', 'enableChannelBinding', 'binary']);

/** Gives the parameters of a URL, all of them texts, the types that `pg` expects. */
export function typeUrlValues(
  settings: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, typeValue(name, value)]),
  );
}

function typeValue(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (numbers.has(name) && /^\d+$/.test(value)) return Number(value);
  if (booleans.has(name) && /^(?:true|false)$/.test(value)) return value === 'true';
  return value;
}

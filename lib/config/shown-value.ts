const longest = 60;

/** Writes a value of an option for an error message; nothing that may hold a password is repeated. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return showText(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** Writes what kind of value a secret is, and nothing of the secret. */
export function showKind(value: unknown): string {
  if (value === '') return 'an empty string';
  if (value === null || typeof value === 'object') return showValue(value);
  return `a ${typeof value}`;
}

/** Writes a connection URL without user, password and parameters. */
export function maskUrl(url: string): string {
  const [, scheme = '', authority = '', rest = ''] =
    /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is.exec(url) ?? [];

  // An "@" behind the authority: the password holds a "/", "?" or "#" that is not percent-encoded,
  // so that any part may belong to it.
  if (rest.includes('@')) return `${scheme}…`;

  const at = authority.lastIndexOf('@');
  const path = rest.replace(/[?#].*$/s, '');
  return `${scheme}${at < 0 ? '' : '…@'}${authority.slice(at + 1)}${path}`;
}

function showText(text: string): string {
  if (text.includes('://')) return `"${maskUrl(text)}"`;
  // libpq's "host=… password=…", and "user:password@host" without a scheme.
  if (/[=@]/.test(text)) return 'a string';
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text);
}

import { isIPv6 } from 'net';
import { portRange } from './number-range.ts';

/** Where a server listens; what is not given is pg's default or inherited. */
export interface HostAddress {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/** Reads `host`, `host:port`, `[::1]:5433` or a percent-encoded socket directory; undefined if malformed. */
export function parseAddress(text: string): HostAddress | undefined {
  const [, bracketed, bare, portText] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d+))?$/.exec(text) ?? [];

  const host = bracketed ?? decodeHost(bare);
  if (host === undefined || !isHost(host) || (bracketed !== undefined && !isIPv6(host))) {
    return undefined;
  }
  if (portText === undefined) return { host };

  const port = parsePort(portText);
  return port === undefined ? undefined : { host, port };
}

/** Reads a port as configuration files write it, a number or its digits. */
export function parsePort(value: unknown): number | undefined {
  const port = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof port === 'number' && portRange.contains(port) ? port : undefined;
}

/** Writes an address as people do: brackets around IPv6, a socket directory as it is. */
export function formatAddress(host: string, port: number | undefined): string {
  const shown = isIPv6(host) ? `[${host}]` : host;
  return port === undefined || isSocketDirectory(host) ? shown : `${shown}:${port}`;
}

/** Makes one spelling of a host's many: case, and the zeros of IPv6. */
export function normalizeHost(host: string): string {
  if (isSocketDirectory(host)) return host;
  // A zone ("fe80::1%eth0") is no part of a URL.
  if (!isIPv6(host) || host.includes('%')) return host.toLowerCase();
  return new URL(`http://[${host}]`).hostname.slice(1, -1);
}

/** Tells a host that can be dialled from one that is empty or misspelt. */
export function isHost(host: string): boolean {
  return isIPv6(host) || isSocketDirectory(host) || /^[\p{L}\p{N}_.-]+$/u.test(host);
}

function isSocketDirectory(host: string): boolean {
  return host.startsWith('/');
}

function decodeHost(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

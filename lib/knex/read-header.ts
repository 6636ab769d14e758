import { invalidOption } from '../config/invalid-option.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { readName } from './resolve-cookie.ts';

// What HTTP itself, one hop of it, or other parts of an application have a use for (RFC 9110), and
// what scripts cannot send (Fetch, "forbidden request-header").
const takenPattern =
  /^(?:(?:accept|access-control|content|if|proxy|sec)-.*|accept|age|allow|authorization|cache-control|connection|cookie2?|date|dnt|etag|expect|expires|host|http2-settings|keep-alive|last-modified|location|origin|range|referer|retry-after|server|set-cookie2?|te|trailer|transfer-encoding|upgrade|user-agent|vary|via|www-authenticate)$/i;

/**
 * Reads the name of a header that carries tokens.
 *
 * @throws {ConfigError} when there is none, it can't be one, or it means something else.
 */
export function readHeader(reader: OptionReader, key: string): string {
  const name = readName(reader, key);
  if (!takenPattern.test(name)) return name;
  throw invalidOption(
    reader.pathOf(key),
    name,
    'a name that means nothing else in HTTP, such as "x-position"',
  );
}

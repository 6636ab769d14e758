import type { IncomingMessage, ServerResponse } from 'http';
import type { Http2ServerRequest, Http2ServerResponse } from 'http2';
import { parseCookie, stringifySetCookie } from 'cookie';

/** A request of either version of HTTP. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;

/** A response of either version of HTTP. */
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** How a token travels with requests and responses. */
export interface TokenCarrier {
  /** The token that a request brings, if any. */
  take(request: HttpRequest): string | undefined;
  /** Has the response, whose headers are not sent yet, bring a token. */
  give(response: HttpResponse, token: string): void;
}

/** The cookie of a {@link cookieCarrier}. */
export interface CookieSettings {
  readonly name: string;
  readonly maxAgeMillis: number;
  readonly path: string;
  readonly domain: string | undefined;
  readonly secure: boolean;
  readonly sameSite: 'lax' | 'strict' | 'none';
}

/** Carries tokens in a cookie that no script can read, beside the application's own cookies. */
export function cookieCarrier({
  name,
  maxAgeMillis,
  domain,
  ...more
}: CookieSettings): TokenCarrier {
  const attributes = {
    ...more,
    ...(domain === undefined ? {} : { domain }),
    maxAge: Math.ceil(maxAgeMillis / 1000),
    httpOnly: true,
  };
  return {
    take: ({ headers }) => parseCookie(headers.cookie ?? '')[name],
    give(response, token) {
      const others = [response.getHeader('set-cookie') ?? []].flat().map(String);
      response.setHeader('set-cookie', [...others, stringifySetCookie(name, token, attributes)]);
    },
  };
}

/** Carries tokens in a header of the same name in both directions. */
export function headerCarrier(name: string): TokenCarrier {
  const key = name.toLowerCase();
  return {
    take({ headers }) {
      const value = headers[key];
      return typeof value === 'string' ? value : undefined;
    },
    give: (response, token) => void response.setHeader(name, token),
  };
}

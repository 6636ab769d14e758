import { parseSetCookie, stringifyCookie } from 'cookie';

/** A client of HTTP that keeps cookies, over plain HTTP, too, and follows no redirect by itself. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /** The names of the cookies that it keeps. */
  get cookies(): readonly string[] {
    return [...this.#cookies.keys()];
  }

  /** Sends a request to one of the processes that serve an application. */
  async send(process: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('cookie', stringifyCookie(Object.fromEntries(this.#cookies)));
    const response = await fetch(`${process}${path}`, { redirect: 'manual', ...init, headers });
    for (const { name, value = '' } of response.headers
      .getSetCookie()
      .map((text) => parseSetCookie(text))) {
      this.#cookies.set(name, value);
    }
    return response;
  }

  /** Sends a JSON body. */
  async post(process: string, path: string, body: unknown): Promise<Response> {
    return this.send(process, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /** What a page answers, in JSON. */
  async read(process: string, path: string): Promise<unknown> {
    const response = await this.send(process, path);
    return response.json();
  }
}

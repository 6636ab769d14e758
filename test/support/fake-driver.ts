import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import type { Knex } from 'knex';

/** One statement as it reached the fake server of a host. */
export interface FakeRequest {
  readonly host: string;
  readonly pid: number;
  readonly text: string;
  readonly values: readonly unknown[];
}

type Rows = readonly object[];

/** What a fake server answers; throws or rejects for an error. */
export type FakeAnswer = (request: FakeRequest) => Rows | undefined | Promise<Rows | undefined>;

/** A `pg` without a network, and what was asked of it. */
export interface FakeDriver {
  readonly requests: FakeRequest[];
  /** The settings that each connection was opened with. */
  readonly dialled: Readonly<Record<string, unknown>>[];
  /** The hosts and sessions that got a CancelRequest. */
  readonly cancelled: string[];
  /** The requests since the last call as `host: text`, without what Knex asks of its own accord. */
  sent(): string[];
  readonly Client: new (settings: Readonly<Record<string, unknown>>) => EventEmitter;
  readonly Connection: new () => EventEmitter;
}

interface Result {
  readonly rows: Rows;
  readonly rowCount: number;
  readonly command: string;
}

type Callback = (error: unknown, result?: object) => void;

/**
 * Makes a fake of `pg`. A host whose name begins with `replica` says that it is one; every answer is
 * without rows unless `answer` has some. Probes are answered, and recorded nowhere but in `dialled`.
 *
 * @param probed what the server of a host tells probes besides its role.
 */
export function createFakeDriver(
  answer: FakeAnswer = () => undefined,
  probed: (host: string) => object = () => ({}),
): FakeDriver {
  const requests: FakeRequest[] = [];
  const dialled: Readonly<Record<string, unknown>>[] = [];
  const cancelled: string[] = [];
  let pids = 0;

  class Client extends EventEmitter {
    readonly host: string;
    readonly port = 5432;
    readonly ssl = false;
    readonly processID = ++pids;
    readonly secretKey = 1;
    readonly connection: EventEmitter & { readonly stream: EventEmitter };
    #status = 'I';

    constructor(settings: Readonly<Record<string, unknown>>) {
      super();
      this.host = String(settings['host']);
      const stream = Object.assign(new EventEmitter(), { destroy: () => undefined });
      this.connection = Object.assign(new EventEmitter(), { stream });
      dialled.push(settings);
    }

    async connect(): Promise<void> {
      const parameterValue = this.#isReplica ? 'on' : 'off';
      this.connection.emit('parameterStatus', { parameterName: 'in_hot_standby', parameterValue });
    }

    query(
      query: string | { text: string; values?: unknown[] } | Readable,
      valuesOrCallback?: unknown[] | Callback,
    ): unknown {
      if (query instanceof Readable) return this.#stream(query);

      const { text, values = [] } = typeof query === 'string' ? { text: query } : query;
      const isCallback = typeof valuesOrCallback === 'function';
      const result = this.#ask(text, isCallback ? values : (valuesOrCallback ?? values));
      if (!isCallback) return result;

      result.then((found) => valuesOrCallback(null, found), valuesOrCallback);
      return undefined;
    }

    get #isReplica(): boolean {
      return this.host.startsWith('replica');
    }

    getTransactionStatus(): string {
      return this.#status;
    }

    end(callback: () => void): void {
      this.emit('end');
      callback();
    }

    async #ask(text: string, values: readonly unknown[]): Promise<Result> {
      if (text.includes('knex-rwsplit probe')) {
        const isInRecovery = this.#isReplica ? 't' : 'f';
        const position = { position: '0/1', receivedPosition: '0/1', receivers: '1' };
        return found(text, [
          { isInRecovery, processId: String(this.processID), ...position, ...probed(this.host) },
        ]);
      }
      const request = { host: this.host, pid: this.processID, text, values };
      requests.push(request);
      if (/^begin/i.test(text)) this.#status = 'T';
      if (/^(commit|rollback(?! to))/i.test(text)) this.#status = 'I';
      if (text === 'select version();') return found(text, [{ version: 'PostgreSQL 18.0 (fake)' }]);
      return found(text, (await answer(request)) ?? []);
    }

    async #pour(text: string, values: readonly unknown[], stream: Readable): Promise<void> {
      try {
        const { rows } = await this.#ask(text, values);
        for (const row of rows) stream.push(row);
        stream.push(null);
      } catch (error) {
        stream.destroy(error as Error);
      }
    }

    #stream(stream: Readable & { cursor?: { text: string; values?: unknown[] } }): Readable {
      const { text = '', values = [] } = stream.cursor ?? {};
      // The row source of pg-query-stream is its cursor, which would ask a server.
      Object.assign(stream, {
        _read: () => {
          Object.assign(stream, { _read: () => undefined });
          void this.#pour(text, values, stream);
        },
      });
      return stream;
    }
  }

  class Connection extends EventEmitter {
    readonly stream = { destroy: () => undefined };
    #host = '';

    connect(_port: number, host: string): void {
      this.#host = host;
      queueMicrotask(() => this.emit('connect'));
    }

    cancel(pid: number): void {
      cancelled.push(`${this.#host}: ${pid}`);
      this.emit('end');
    }
  }

  let read = 0;
  const sent = (): string[] => {
    const fresh = requests.slice(read).filter(({ text }) => !/pg_catalog|version\(\)/.test(text));
    read = requests.length;
    return fresh.map(({ host, text }) => `${host}: ${text}`);
  };
  return { requests, dialled, cancelled, sent, Client, Connection };
}

function found(text: string, rows: Rows): Result {
  return {
    rows,
    rowCount: Math.max(1, rows.length),
    command: text.split(' ', 1).join('').toUpperCase(),
  };
}

/** The client class that opens its connections by a fake driver. */
export function overDriver(Client: typeof Knex.Client, driver: FakeDriver): typeof Knex.Client {
  return class extends Client {
    _driver(): FakeDriver {
      return driver;
    }
  };
}

import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { TestHost } from 'knex-rwsplit/testing';

/** A line of a server's log, of those that the shop's sessions caused. */
export interface LogLine {
  readonly timestamp: string;
  readonly error_severity: string;
  readonly message: string;
  /** The SQLSTATE of an error. */
  readonly state_code?: string | undefined;
  /** The session and its virtual transaction: alike for the statements of one transaction. */
  readonly session_id: string;
  readonly vxid?: string | undefined;
  readonly application_name?: string | undefined;
  /** Whether the server had been promoted by then. */
  readonly isPromoted: boolean;
}

/** What makes a server log every statement, in a form that is easy to read. */
export const logSettings: Readonly<Record<string, string>> = {
  logging_collector: 'on',
  log_destination: 'jsonlog',
  log_filename: 'statements',
  log_rotation_age: '0',
  log_rotation_size: '0',
  log_statement: 'all',
  log_min_error_statement: 'error',
  log_min_messages: 'warning',
  log_timezone: 'UTC',
};

/** Reads the log of one server as it grows, also of one that was killed. */
export class ServerLog {
  readonly host: TestHost;
  readonly #application: string;
  #path: string | undefined;
  #offset = 0;
  #isPromoted = false;

  constructor(host: TestHost, application: string) {
    this.host = host;
    this.#application = application;
  }

  /** The lines of the application since the last call. */
  async read(): Promise<readonly LogLine[]> {
    return (await this.#lines()).filter((line) => line.application_name === this.#application);
  }

  /** As {@link read}, once everything that the server has logged so far is written. */
  async readAll(): Promise<readonly LogLine[]> {
    if (!this.host.isRunning) return this.read();

    // The log is written in order: what precedes this statement is there when it is.
    const mark = `end of log ${this.#offset}`;
    await this.host.query(`select '${mark}' as end_of_log`);
    const lines: LogLine[] = [];
    for (let isComplete = false; !isComplete;) {
      const more = await this.#lines();
      isComplete = more.some(({ message }) => message.includes(mark));
      lines.push(...more);
    }
    return lines.filter((line) => line.application_name === this.#application);
  }

  async #lines(): Promise<readonly LogLine[]> {
    this.#path ??= await findLog(this.host);
    const part = await buffer(createReadStream(this.#path, { start: this.#offset }));
    // The last line may not be complete yet.
    const complete = part.subarray(0, part.lastIndexOf('\n') + 1);
    this.#offset += complete.length;
    return complete
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => this.#parse(line));
  }

  #parse(text: string): LogLine {
    // A crash can cut a line short; the next one is then written behind it.
    const line = text.slice(text.lastIndexOf('{"timestamp":'));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- PostgreSQL wrote it
    const parsed = JSON.parse(line) as Omit<LogLine, 'isPromoted'>;
    if (parsed.message === 'archive recovery complete') this.#isPromoted = true;
    return { ...parsed, isPromoted: this.#isPromoted };
  }
}

async function findLog(host: TestHost): Promise<string> {
  const [row] = await host.query<{ folder: string; file: string }>(
    `select current_setting('data_directory') as folder, pg_current_logfile('jsonlog') as file`,
  );
  return join(row?.folder ?? '', row?.file ?? '');
}

import type { TestHost } from 'knex-rwsplit/testing';

/** A line of a server's log, of those that the shop's sessions caused. */
export interface LogLine {
  readonly error_severity: string;
  readonly message: string;
  /** The SQLSTATE of an error. */
  readonly state_code?: string | undefined;
  /** The session and its virtual transaction: alike for the statements of one transaction. */
  readonly session_id: string;
  readonly vxid?: string | undefined;
  readonly application_name?: string | undefined;
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
};

/** Reads the log of one server as it grows, asking the server itself for it. */
export class ServerLog {
  readonly host: TestHost;
  readonly #application: string;
  #offset = 0;

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
    const [row] = await this.host.query<{ part: Buffer }>(
      `select pg_read_binary_file(pg_current_logfile('jsonlog'), $1, 1 << 29) as part`,
      [this.#offset],
    );
    // The last line may not be complete yet.
    const part = row?.part ?? Buffer.alloc(0);
    const complete = part.subarray(0, part.lastIndexOf('\n') + 1);
    this.#offset += complete.length;
    return complete
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map(parseLine);
  }
}

function parseLine(line: string): LogLine {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- PostgreSQL wrote it
  return JSON.parse(line) as LogLine;
}

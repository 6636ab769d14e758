// What tells of a change that nobody announced, such as one that a function made. The server
// reports more, of which some changes with the role, or is the server's own.
const WATCHED: ReadonlySet<string> = new Set([
  'application_name',
  'client_encoding',
  'datestyle',
  'default_transaction_read_only',
  'intervalstyle',
  'search_path',
  'session_authorization',
  'standard_conforming_strings',
  'timezone',
]);

// Sessions become read-only by an operator, too, who means to end all writing.
const READ_ONLY = 'default_transaction_read_only';

// What is never ours to put right.
const FATAL = [
  READ_ONLY,
  'client_encoding',
  'session_authorization',
  'standard_conforming_strings',
];

/** What the server of a connection reports of its session by itself, beside what is expected. */
export class Reports {
  readonly #reported = new Map<string, string>();
  readonly #expected = new Map<string, string>();
  #hasNews = false;

  /** Notes what the server reports of a setting. */
  note(parameter: string, value: string): void {
    const name = parameter.toLowerCase();
    if (!WATCHED.has(name)) return;
    this.#reported.set(name, value);
    this.#hasNews = true;
  }

  /** Expects from here on what was reported until here, as when the connection is opened. */
  settle(): void {
    for (const [name, value] of this.#reported) this.#expected.set(name, value);
    this.#hasNews = false;
  }

  /** Expects a setting to be what the server itself says that it is now. */
  expect(name: string, value: string): void {
    if (!this.#reported.has(name)) return;
    this.#expected.set(name, value);
    this.#hasNews = true;
  }

  /** Whether something changed that can't be put right. */
  get isFatal(): boolean {
    return FATAL.some((name) => this.#differs(name));
  }

  /** The settings that are not what is expected of them, with what is; until the next news, once. */
  drifted(): readonly (readonly [string, string])[] {
    if (!this.#hasNews) return [];
    this.#hasNews = false;
    return [...this.#expected].filter(([name]) => name !== READ_ONLY && this.#differs(name));
  }

  #differs(name: string): boolean {
    const expected = this.#expected.get(name);
    return expected !== undefined && this.#reported.get(name) !== expected;
  }
}

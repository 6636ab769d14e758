import { ConfigError } from '../errors.ts';
import { isTooNested } from './nesting.ts';
import { withoutComments } from './scan.ts';
import { listIn, nodeIn, type SyntaxNode } from './syntax-node.ts';

/** The statements of a text, or why the text could not be understood. */
export type Parsed = { readonly statements: readonly SyntaxNode[] } | { readonly failure: string };

/** What is used of `libpg-query`. */
export interface Grammar {
  loadModule(): Promise<void>;
  parseSync(text: string): unknown;
}

/** The longest text, in bytes, that is handed to the parser. */
export const longestParsedText: number = 32 * 1024;

const packageName = 'libpg-query';
const mostReloads = 8;

/**
 * PostgreSQL's own grammar.
 *
 * A WebAssembly module that was interrupted (its stack overflowed, its memory ran out) cannot be
 * trusted again: it is replaced by a fresh one, and given up when that helps no more.
 */
export class Parser {
  readonly #open: () => Grammar;
  #grammar: Grammar | undefined;
  #interrupted: Grammar | undefined;
  #loading: Promise<void> | undefined;
  #reloads = 0;
  #hasGivenUp = false;

  constructor(open: () => Grammar) {
    this.#open = open;
  }

  isLoaded(): boolean {
    return this.#grammar !== undefined || this.#hasGivenUp;
  }

  /** Loads the grammar once; never rejects, a failure makes every text unknown. */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  parse(text: string): Parsed {
    if (this.#hasGivenUp) return { failure: 'the SQL parser is unavailable' };
    if (this.#grammar === undefined) return { failure: 'the SQL parser is not loaded yet' };
    if (Buffer.byteLength(text) > longestParsedText) return { failure: 'text over 32 KiB' };
    // C ends a string at NUL: what stands behind it would go unseen.
    if (text.includes('\0')) return { failure: 'text with a NUL' };
    // The grammar's binding refuses the empty string, PostgreSQL does not.
    if (text === '') return { statements: [] };
    if (isTooNested(text)) return { failure: 'text nested too deeply' };

    const parsed = this.#try(this.#grammar, text);
    if ('statements' in parsed || this.#grammar === undefined) return parsed;
    // libpg-query stumbles over a comment between words that the grammar reads as one, such as
    // WITH ORDINALITY or NOT LIKE.
    const bare = withoutComments(text);
    return bare === undefined || bare === text ? parsed : this.#try(this.#grammar, bare);
  }

  #try(grammar: Grammar, text: string): Parsed {
    try {
      return { statements: statementsOf(grammar.parseSync(text)) };
    } catch (error) {
      if (isSyntaxError(error)) return { failure: `unparsable, ${withoutText(error.message)}` };
      this.#replace(error);
      return { failure: 'the SQL parser failed on this text' };
    }
  }

  async #load(): Promise<void> {
    try {
      const grammar = this.#open();
      // Where modules cannot be loaded twice, as within Jest, the interrupted one comes back.
      if (grammar === this.#interrupted) throw new Error('it cannot be loaded afresh');
      await grammar.loadModule();
      grammar.parseSync('select 1');
      this.#grammar = grammar;
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #replace(cause: unknown): void {
    this.#interrupted = this.#grammar;
    this.#grammar = undefined;
    this.#loading = undefined;
    this.#reloads++;
    if (this.#reloads > mostReloads) this.#giveUp(cause);
  }

  #giveUp(cause: unknown): void {
    this.#hasGivenUp = true;
    process.emitWarning(
      `The SQL parser ${packageName} does not work (${String(cause)}): every raw and select statement goes to the primary.`,
      { code: 'RWSPLIT_PARSER' },
    );
  }
}

function statementsOf(tree: unknown): readonly SyntaxNode[] {
  return listIn(tree, 'stmts').map((statement) => nodeIn(statement, 'stmt'));
}

// The grammar quotes what it stumbled over, which may be a secret.
function withoutText(message: string): string {
  return message.replace(/ at or near .*/s, '').slice(0, 100);
}

function isSyntaxError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'SqlError';
}

/** Loads a copy of the package of its own: a cached one may hold an interrupted module. */
function openPackage(): Grammar {
  delete require.cache[require.resolve(packageName)];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `require` cannot know the type.
  return require(packageName) as typeof import('libpg-query');
}

const shared = new Parser(openPackage);

/**
 * Checks that the parser's package can be found, without loading it.
 *
 * @throws {ConfigError} when it is not installed.
 */
export function assertParserInstalled(): void {
  try {
    require.resolve(packageName);
  } catch (cause) {
    throw new ConfigError(
      'rwSplit',
      `The package ${packageName}, which rwSplit needs to understand SQL, is not installed; run "npm install ${packageName}". In a bundle, keep knex-rwsplit and knex out of it, as external packages.`,
      { cause },
    );
  }
}

/** Loads the parser once for the whole process; never rejects. */
export function loadParser(): Promise<void> {
  return shared.load();
}

/** Tells whether {@link parseStatements} can be called, or never will be of use. */
export function isParserLoaded(): boolean {
  return shared.isLoaded();
}

/** Parses a text into its statements; never throws. */
export function parseStatements(text: string): Parsed {
  return shared.parse(text);
}

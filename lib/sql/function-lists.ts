import { formatName, type QualifiedName } from './qualified-name.ts';

/** The user's word on functions, which wins over the catalog. */
export interface FunctionListOptions {
  /** Functions that may run on a replica, e.g. `f` (in any schema) or `shop.f`. */
  readonly read?: readonly string[] | undefined;
  /** Functions that belong on the primary; wins over `read`. */
  readonly write?: readonly string[] | undefined;
}

/** Answers what the user said of a function. */
export class FunctionLists {
  readonly #read: ReadonlySet<string>;
  readonly #write: ReadonlySet<string>;
  readonly #writeNames: ReadonlySet<string>;

  constructor({ read = [], write = [] }: FunctionListOptions = {}) {
    this.#read = new Set(read.map(fold));
    this.#write = new Set(write.map(fold));
    this.#writeNames = new Set(write.map((entry) => fold(entry.slice(entry.lastIndexOf('.') + 1))));
  }

  /** All entries, in lower case, for whoever knows the schema of every function. */
  get entries(): { readonly read: readonly string[]; readonly write: readonly string[] } {
    return { read: [...this.#read], write: [...this.#write] };
  }

  /** A call without a schema may reach a listed function of any schema: only `write` assumes so. */
  rulingOf(called: QualifiedName): 'read' | 'write' | undefined {
    const full = fold(formatName(called));
    const bare = fold(called.name);
    const unqualified = called.schema === undefined;

    if (this.#write.has(full) || this.#write.has(bare)) return 'write';
    if (unqualified && this.#writeNames.has(bare)) return 'write';
    return this.#read.has(full) || this.#read.has(bare) ? 'read' : undefined;
  }
}

function fold(name: string): string {
  return name.toLowerCase();
}

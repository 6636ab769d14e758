import { nodeIn, textIn, type SyntaxNode } from './syntax-node.ts';

/** A name as a text writes it; without a schema the search path decides. */
export interface QualifiedName {
  readonly schema?: string | undefined;
  readonly name: string;
}

/** Reads a list of `String` nodes, as in `pg_catalog.nextval`; a database name in front is dropped. */
export function qualifiedNameOf(parts: readonly unknown[]): QualifiedName | undefined {
  const words = parts.map(stringOf);
  const name = words.at(-1);
  return name === undefined ? undefined : { schema: words.at(-2), name };
}

/** The text of a `String` node. */
export function stringOf(node: unknown): string | undefined {
  return textIn(nodeIn(node, 'String'), 'sval');
}

/** A `RangeVar`: the name of a relation. */
export function relationNameOf(node: SyntaxNode): QualifiedName {
  return { schema: textIn(node, 'schemaname'), name: textIn(node, 'relname') ?? '' };
}

/** Writes a name for people, e.g. `shop.total`. */
export function formatName({ schema, name }: QualifiedName): string {
  return schema === undefined ? name : `${schema}.${name}`;
}

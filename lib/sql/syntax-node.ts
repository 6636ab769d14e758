/** The fields of a node of the syntax tree, as `libpg-query` writes it in JSON. */
export type SyntaxNode = Readonly<Record<string, unknown>>;

/** Tells whether a value is a node, or a value with a node's form. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The node in a field; an empty one where there is none. */
export function nodeIn(node: unknown, field: string): SyntaxNode {
  const value = isNode(node) ? node[field] : undefined;
  return isNode(value) ? value : {};
}

/** The list in a field; an empty one where there is none. */
export function listIn(node: unknown, field: string): readonly unknown[] {
  const value: unknown = isNode(node) ? node[field] : undefined;
  return Array.isArray(value) ? value : [];
}

/** The text in a field, e.g. a name or a keyword of the grammar. */
export function textIn(node: unknown, field: string): string | undefined {
  const value = isNode(node) ? node[field] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Splits `{ FuncCall: { … } }` into its type and its fields. */
export function typedNode(value: unknown): [string, SyntaxNode] | undefined {
  if (!isNode(value)) return undefined;
  let type: string | undefined;
  for (const field in value) {
    if (type !== undefined) return undefined;
    type = field;
  }
  // Types begin with a capital, fields never do.
  if (type === undefined || !beginsWithCapital(type)) return undefined;
  const node = value[type];
  return isNode(node) ? [type, node] : undefined;
}

function beginsWithCapital(name: string): boolean {
  const code = name.charCodeAt(0);
  return code >= 0x41 && code <= 0x5a;
}

import * as prettier from 'prettier';
import { knownDifferences } from './known-differences.mjs';

/** The page that tells what was found, for a file: `docs/compatibility.md`. */
export async function compatibilityPage(results, path) {
  const config = await prettier.resolveConfig(path);
  return prettier.format(textOf(results), { ...config, parser: 'markdown' });
}

function textOf(results) {
  return `# Compatibility

Written by \`npm run test:matrix -- --write\`: the tests of all that touches Knex or the driver, with
each of these versions.

| Node | Knex | \`pg\` | passed | differ as below | failed |
| --- | --- | --- | --- | --- | --- |
${results.map(row).join('\n')}

Continuous integration runs a part of it with the oldest and the newest. The package of Knex 3.0.0
lacks a file, and cannot be loaded by anyone. The types are those of Knex 3: Knex 2.5 works, and
\`rwSplit\` needs a cast there; npm installs it beside this package (ERESOLVE otherwise) with
\`"overrides": { "knex-rwsplit": { "knex": "$knex" } }\` in \`package.json\`, or \`--legacy-peer-deps\`. \`pg-native\` is refused with a \`ConfigError\`: it has no way to cancel a
query at the server that runs it, to see what a server reports of its role, or to end a dead socket.

## What older versions do otherwise

With these, some tests fail, for the reason given and for no other:

${knownDifferences.map(({ peer, before, why }) => `- ${peerName(peer)} before ${before} ${why}.`).join('\n')}

## What differs from plain Knex

A client without \`rwSplit\` is Knex's own: the tests compare what it sends, byte for byte. One that
splits differs where it has to:

- \`start\` comes before the connection is taken, and not after: the text decides which. A listener
  that changes the builder is honoured. As in Knex, a stream has none.
- \`query\`, \`query-response\` and \`query-error\` carry \`rwSplit\`, with host, role and reason. A statement
  that is run again elsewhere shows once; the attempt that failed is a \`retry\` of \`rwSplit(db)\`.
- The text of \`BEGIN\`, \`START TRANSACTION\` or \`SAVEPOINT\` in \`db.raw\` outside of a transaction is
  refused: the next statement could run on another connection, or another server.
- A host that cannot be reached is a \`NoHostAvailableError\` that says so, and no \`KnexTimeoutError\`
  that guesses at a full pool. A full pool is a \`KnexTimeoutError\`, as ever.
- \`client.pool\` is that of the primary in all that it answers; there is one more for each replica.
- \`client.config.client\` is \`'pg'\` and no class, since applications and Knex's own migrations compare
  it as a string.
- Without \`asyncStackTraces\`, the stack of an error that Knex finds while it compiles (an undefined
  binding) ends in Knex: a query is compiled before it waits for a connection, not after.
- What changes its session outside of a transaction (\`set\`, a temporary table, \`prepare\`, \`listen\`)
  has its connection closed afterwards, so that the next user does not inherit it. In Knex it lasts
  for as long as the pool happens to give out the same connection.
- Connections have \`connectionTimeoutMillis: 5000\` and \`keepAlive: true\`, unless \`connection\` says
  otherwise: \`pg\` alone would wait for ever for a server that accepts and never answers. A hook that
  never calls back is a \`NoHostAvailableError\` therefore.
- \`destroy()\` waits for what has its connection, and ends the rest, as in Knex. A text that was never
  seen before gets its connection later there, as it is classified first.
- The \`KnexTimeoutError\` of a full pool has the text of the query as \`sql\`, where Knex has that of raw
  text alone; what \`trx.commit()\` resolves to carries \`rwSplit\`, too.
- \`.connection(connection).stream()\` leaves the connection with whoever took it; Knex gives it back.
- A \`connection\` that is a function is asked once more, for the connection of the probe.
- A second release of a connection does no harm to whoever has it by then.
- A session-level advisory lock keeps its connection until it is unlocked.
`;
}

function row({ node, knex, pg, passed, known, failed }) {
  return `| ${node} | ${knex} | ${pg} | ${passed} | ${known} | ${failed} |`;
}

function peerName(peer) {
  return peer === 'knex' ? 'Knex' : '`pg`';
}

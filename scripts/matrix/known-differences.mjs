/** Whether one version is older than another. */
export function isOlder(version, than) {
  const [one, other] = [version, than].map((text) => text.split('.').map(Number));
  const place = one.findIndex((number, i) => number !== other[i]);
  return place !== -1 && one[place] < other[place];
}

/**
 * What older peers do otherwise than the newest, which the tests are written for: the peer whose
 * versions before `before` differ, the tests that tell, and why.
 */
export const knownDifferences = [
  {
    peer: 'knex',
    before: '3.3.0',
    tests: [/on a pool of (pg|tarn)/],
    why: 'has no `connectionPool`',
  },
  {
    peer: 'knex',
    before: '3.3.0',
    tests: [/destroy\(\) makes a stream fail as in plain Knex/],
    why: 'releases the connection that a stream never got, and throws, where its instance is destroyed',
  },
  {
    peer: 'knex',
    before: '3.3.0',
    tests: [
      /(afterCreate that fails|acquireConnectionTimeout|acquireTimeoutMillis|function that throws).*all is as in plain Knex/,
    ],
    why: 'logs nothing of a connection that it cannot get',
  },
  {
    peer: 'knex',
    before: '3.2.0',
    tests: [/maxConnectionLifetimeMillis/],
    why: 'has no `maxConnectionLifetimeMillis`',
  },
  {
    peer: 'knex',
    before: '3.2.0',
    tests: [/migrations that read what they write run/],
    why: 'counts a batch of migrations that has none',
  },
  {
    peer: 'knex',
    before: '3.1.0',
    tests: [/cancel a query of a nested transaction/],
    why: 'tells a nested transaction nothing of its `parentTransaction`',
  },
  {
    peer: 'knex',
    before: '3.0.0',
    tests: [/the version that the tests were written for is a Knex 3/],
    why: 'is a Knex 2; its types are not checked',
  },
  {
    peer: 'pg',
    before: '8.23.0',
    tests: [/takes one round trip too/, /take no round trip more in a session/],
    why: 'cannot send two statements at once: the position of a write, and the check before a read that needs one, take a round trip of their own',
  },
];

/** The known difference that a failed test shows with the given versions, if there is one. */
export function knownDifference(versions, test) {
  return knownDifferences.find(
    ({ peer, before, tests }) =>
      isOlder(versions[peer], before) && tests.some((pattern) => pattern.test(test)),
  );
}

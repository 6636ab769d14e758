/**
 * The versions that the tests run with: the ends of the ranges of both peers, what lies on either
 * side of each change of theirs that is felt here, and the release lines of Node that are maintained.
 *
 * @type {readonly {
 *   readonly node: string,
 *   readonly knex: string,
 *   readonly pg: string,
 *   readonly isSmoke?: boolean,
 * }[]}
 */
export const combinations = [
  { node: '20', knex: '2.5.1', pg: '8.23.1' },
  // The package of Knex 3.0.0 lacks a file without which it cannot be loaded.
  { node: '20', knex: '3.0.1', pg: '8.0.3', isSmoke: true },
  { node: '20', knex: '3.0.1', pg: '8.23.1' },
  { node: '20', knex: '3.1.0', pg: '8.11.6' },
  { node: '20', knex: '3.2.10', pg: '8.22.0' },
  { node: '20', knex: '3.3.0', pg: '8.0.3' },
  { node: '20', knex: '3.3.0', pg: '8.22.0' },
  { node: '20', knex: '3.3.0', pg: '8.23.1', isSmoke: true },
  { node: '22', knex: '3.3.0', pg: '8.23.1' },
  { node: '24', knex: '3.3.0', pg: '8.23.1' },
];

/** What is run with each: all that touches Knex or the driver. */
export const tests = [
  'unit/errors',
  'unit/knex/',
  'integration/knex/client-surface',
  'integration/knex/config-options',
  'integration/knex/destroy',
  'integration/knex/drivers',
  'integration/knex/events',
  'integration/knex/migrations',
  'integration/knex/plain-wire',
  'integration/knex/pool-options',
  'integration/knex/prepared',
  'integration/knex/schema-raw',
  'integration/knex/streams',
  'integration/knex/surface',
  'integration/knex/timeouts',
  'integration/knex/transaction-surface',
  'integration/routing/builders',
  'integration/routing/hints',
  'integration/routing/knexfile',
  'integration/routing/raw-texts',
  'integration/routing/transactions',
  'integration/consistency/round-trips',
];

/** What is run with the oldest and the newest in every run of continuous integration. */
export const smokeTests = [
  'unit/knex/(derived-clients|host-client|internals|plain-client)',
  'integration/routing/builders',
];

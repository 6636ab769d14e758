/** @param {string} name @param {import('jest').Config} more */
const project = (name, more = {}) => ({
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  testEnvironment: 'node',
  transform: {
    '\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  ...more,
});

/** Projects whose tests need servers; the others run without. */
const onCluster = ['integration', 'examples', 'package', 'frameworks'];
const cluster = {
  globalSetup: '<rootDir>/test/support/cluster-setup.ts',
  globalTeardown: '<rootDir>/test/support/cluster-teardown.ts',
};

/** @type {import('jest').Config} */
module.exports = {
  reporters: ['default', '<rootDir>/scripts/tally-reporter.cjs'],
  testTimeout: process.env.RWSPLIT_LONG === undefined ? 60_000 : 600_000,
  maxWorkers: 2,
  projects: ['unit', 'architecture', 'docs', ...onCluster].map((name) =>
    project(name, onCluster.includes(name) ? cluster : {}),
  ),
};

/** Closes a run with one plain line that scripts can read. */
module.exports = class TallyReporter {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites } = results;
    // A suite that could not even load has run no test, and is a failure all the same.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const tally = `${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`;
    // Jest puts its own summary and the global teardown behind every reporter.
    process.once('exit', () => console.log(tally));
  }
};

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import * as prettier from 'prettier';
import { cloneTree } from './matrix/clone.mjs';
import { combinations, smokeTests, tests } from './matrix/combinations.mjs';
import { knownDifference } from './matrix/known-differences.mjs';
import { compatibilityPage } from './matrix/page.mjs';
import { runTests } from './matrix/run-tests.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const isSmoke = process.argv.includes('--smoke');
const clone = cloneTree(root);
const results = [];
try {
  for (const versions of combinations.filter((one) => !isSmoke || one.isSmoke)) {
    clone.install(versions);
    const { passed, failed } = runTests(clone.folder, isSmoke ? smokeTests : tests);
    const known = failed.filter((name) => knownDifference(versions, name) !== undefined);
    const result = {
      ...versions,
      passed,
      known,
      failed: failed.filter((name) => !known.includes(name)),
    };
    results.push(result);
    console.log(
      `Knex ${versions.knex}, pg ${versions.pg}: ${passed} passed, ${known.length} differ as known, ${result.failed.length} failed`,
    );
    for (const name of result.failed) console.log(`  ${name}`);
  }
} finally {
  clone.remove();
}

if (process.argv.includes('--write') && !isSmoke) {
  const path = join(root, 'docs/compatibility.md');
  const config = await prettier.resolveConfig(path);
  const page = compatibilityPage(results, process.versions.node.split('.')[0]);
  writeFileSync(path, await prettier.format(page, { ...config, parser: 'markdown' }));
}
process.exitCode = results.some(({ failed }) => failed.length > 0) ? 1 : 0;

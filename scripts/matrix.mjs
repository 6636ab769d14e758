import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { cloneTree } from './matrix/clone.mjs';
import { combinations, smokeTests, tests } from './matrix/combinations.mjs';
import { knownDifference } from './matrix/known-differences.mjs';
import { otherNode } from './matrix/other-node.mjs';
import { compatibilityPage } from './matrix/page.mjs';
import { runTests } from './matrix/run-tests.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const isSmoke = process.argv.includes('--smoke');
const clone = cloneTree(root);
const results = [];
try {
  for (const versions of combinations.filter((one) => !isSmoke || one.isSmoke)) {
    clone.install(versions);
    const program = isSmoke ? process.execPath : otherNode(clone.folder, versions.node);
    const { passed, failed } = runTests(program, clone.folder, isSmoke ? smokeTests : tests);
    const wrong = failed.filter((name) => knownDifference(versions, name) === undefined);
    const known = failed.length - wrong.length;
    results.push({ ...versions, passed, known, failed: wrong.length });
    console.log(
      `${isSmoke ? '' : `Node ${versions.node}, `}Knex ${versions.knex}, pg ${versions.pg}: ${passed} passed, ${known} differ as known, ${wrong.length} failed`,
    );
    for (const name of wrong) console.log(`  ${name}`);
  }
} finally {
  clone.remove();
}

if (process.argv.includes('--write') && !isSmoke) {
  const path = join(root, 'docs/compatibility.md');
  writeFileSync(path, await compatibilityPage(results, path));
}
process.exitCode = results.some(({ failed }) => failed > 0) ? 1 : 0;

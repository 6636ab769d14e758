import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeScalePage } from './scale-page.ts';
import { saveScaleResults, type ScaleResults } from './scale-results.ts';

const docs = join(__dirname, '../../docs');

/** Keeps what was measured, and writes it into the page; what was only tried out, where nobody keeps it. */
export async function keepScale(results: ScaleResults, isSmoke: boolean): Promise<void> {
  if (!isSmoke) return writeScalePage(await saveScaleResults(results, __dirname), docs);

  const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
  await writeScalePage(await saveScaleResults(results, scratch), scratch);
  rmSync(scratch, { recursive: true });
}

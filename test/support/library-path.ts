import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './source-file.ts';

const built = join(root, 'dist/index.js');

/**
 * What a program of a test requires to have the library: compiled, which takes half the time to
 * load, unless `lib` has changed since `npm run build`.
 */
export function libraryPath(): string {
  return isBuilt() ? built : join(root, 'lib/index.ts');
}

function isBuilt(): boolean {
  if (!existsSync(built)) return false;

  const folder = join(root, 'lib');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const { mtimeMs } = statSync(built);
  return files.every((file) => statSync(join(folder, file)).mtimeMs <= mtimeMs);
}

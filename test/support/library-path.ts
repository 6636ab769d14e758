import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './source-file.ts';

/**
 * What a program of a test requires to have the library, or one of its files: compiled, which takes
 * half the time to load, unless `lib` has changed since `npm run build`.
 */
export function libraryPath(file = 'index'): string {
  return isBuilt() ? join(root, `dist/${file}.js`) : join(root, `lib/${file}.ts`);
}

function isBuilt(): boolean {
  const built = join(root, 'dist/index.js');
  if (!existsSync(built)) return false;

  const folder = join(root, 'lib');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const { mtimeMs } = statSync(built);
  return files.every((file) => statSync(join(folder, file)).mtimeMs <= mtimeMs);
}

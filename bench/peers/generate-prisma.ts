import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const program = join(__dirname, 'node_modules/prisma/build/index.js');
const schema = join(__dirname, 'schema.prisma');

let generated: Promise<void> | undefined;

/** Generates the client of Prisma into `dist`, once, with nothing but what npm installed. */
export async function generatePrisma(): Promise<void> {
  return (generated ??= generate());
}

async function generate(): Promise<void> {
  await promisify(execFile)(process.execPath, [program, 'generate', '--schema', schema], {
    cwd: __dirname,
    env: {
      ...process.env,
      // Unless a file is named for it, this downloads an engine for migrations, which it never runs.
      PRISMA_SCHEMA_ENGINE_BINARY: schema,
      CHECKPOINT_DISABLE: '1',
    },
  });
}

if (require.main === module) void generatePrisma();

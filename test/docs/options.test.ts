import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { resolveBalancer } from '../../lib/balancers/registry.ts';
import { resolveConfig } from '../../lib/config/resolve-config.ts';
import { root, sourceFiles } from '../support/source-file.ts';

/** Where the options of each type stand in the settings. */
const places: Record<string, string> = {
  RWSplitOptions: '',
  HostOptions: 'replicas.0.',
  ConsistencyOptions: 'consistency.',
  TokenOptions: 'consistency.token.',
  HealthOptions: 'health.',
  FailoverOptions: 'failover.',
  DiscoveryOptions: 'discovery.',
  FunctionOptions: 'functions.',
};

interface DocumentedDefault {
  readonly place: string;
  readonly text: string;
}

function documentedDefaults(): readonly DocumentedDefault[] {
  return sourceFiles('lib/config').flatMap(({ path }) => {
    const source = readFileSync(join(root, path), 'utf8');
    const blocks = source.matchAll(
      /export (?:interface|type) (\w+)|\/\*\*(?:(?!\*\/)[^])*?@default (.*)\n(?:(?!\*\/)[^])*?\*\/\s*(\w+)\?:/g,
    );

    let type = '';
    return [...blocks].flatMap(([, opened, text, option]) => {
      if (opened !== undefined) type = opened;
      return text === undefined || option === undefined
        ? []
        : [{ place: `${places[type] ?? `${type}?`}${option}`, text }];
    });
  });
}

/** A literal of the documentation: JSON but for its quotes and bare names. */
function valueOf(text: string): unknown {
  if (text === 'undefined') return undefined;
  return JSON.parse(text.replaceAll("'", '"').replaceAll(/(\w+):/g, '"$1":'));
}

function settingAt(place: string): unknown {
  const { settings } = resolveConfig({
    connection: { host: 'h1' },
    rwSplit: { replicas: place.startsWith('replicas.') ? [{ host: 'h2' }] : [] },
  });
  return place.split('.').reduce<unknown>((at, key) => Reflect.get(Object(at), key), settings);
}

/** The settings hold what the word stands for. */
const meanings: Record<string, (value: unknown) => unknown> = {
  balancer: (value) => (typeof value === 'string' ? resolveBalancer(value) : value),
  primaryReads: Number,
};

describe('the documented default', () => {
  const documented = documentedDefaults();

  it.each(documented.map(({ place, text }) => [place, text]))('of %s is %s', (place, text) => {
    const meaning = meanings[place] ?? ((value: unknown) => value);

    expect(settingAt(place)).toEqual(meaning(valueOf(text)));
  });

  it('is given for every option that has one', () => {
    expect(documented.length).toBeGreaterThanOrEqual(29);
  });
});

describe('the annotated options of examples/options.mts', () => {
  const block = readFileSync(join(root, 'examples/options.mts'), 'utf8')
    .replaceAll(/\/\/.*$/gm, '')
    .replaceAll('_', '');
  // The example has replicas, and the other forms of `consistency` and `balancer` in comments.
  const shown = documentedDefaults().filter(({ place }) => place !== 'replicas');

  it.each(shown.map(({ place, text }) => [place, text]))('show %s with %s', (place, text) => {
    const option = place.slice(place.lastIndexOf('.') + 1);

    expect(block).toContain(`${option}: ${text}`);
  });
});

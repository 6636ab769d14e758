import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as prettier from 'prettier';
import type { BalancerName } from './balancers.ts';
import type { Figures } from './figures.ts';
import type { PickCost } from './pick-cost.ts';
import type { Setting } from './run-scenario.ts';
import type { ScenarioName } from './scenarios.ts';

/** What one balancer did in one scenario. */
export interface ScenarioFigures extends Figures {
  readonly setting: Setting;
  readonly scenario: ScenarioName;
  readonly balancer: BalancerName;
}

/** What one balancer made of so many replicas whose service takes a fixed time. */
export interface ReplicaFigure {
  readonly balancer: BalancerName;
  readonly replicas: number;
  readonly perSecond: number;
  /** To a single replica. */
  readonly ratio: number;
}

/** All that is told of scale. */
export interface ScaleResults {
  readonly scenarios?: readonly ScenarioFigures[];
  readonly picks?: readonly PickCost[];
  readonly replicas?: readonly ReplicaFigure[];
}

const fileName = 'results.json';

/** Replaces what was measured anew, and answers with all that was measured last. */
export async function saveScaleResults(more: ScaleResults, folder: string): Promise<ScaleResults> {
  const path = join(folder, fileName);
  const before: ScaleResults = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  const text = JSON.stringify({ ...before, ...more }, rounded);
  const config = await prettier.resolveConfig(path);
  writeFileSync(path, await prettier.format(text, { ...config, parser: 'json' }));
  // As the file has it: who reads it later gets the same tables and pictures.
  const kept: ScaleResults = JSON.parse(text);
  return kept;
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}

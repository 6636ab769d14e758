import type { Bench } from '../bench-run.ts';
import { balancerNames } from './balancers.ts';
import { figuresOf } from './figures.ts';
import { keepScale } from './keep-scale.ts';
import { measurePicks } from './pick-cost.ts';
import { runScenario, type Setting } from './run-scenario.ts';
import type { ScenarioFigures } from './scale-results.ts';
import { type ScenarioName, scenarios } from './scenarios.ts';

const seed = 7;

/** How large the simulated fleets are; both have as many queries a second. */
export const settings: readonly Setting[] = [
  { replicas: 100, clients: 8, load: 0.3, seed },
  { replicas: 1000, clients: 1, load: 0.03, seed },
];

const smokeSettings: readonly Setting[] = [{ replicas: 20, clients: 1, load: 0.005, seed }];

const pickRounds = 50;

/** Simulates what each balancer does with many replicas, and measures what its picks cost. */
export const benchSimulation: Bench = async ({ isSmoke }) => {
  console.log('\nSimulation:');
  const figures: ScenarioFigures[] = [];
  for (const setting of isSmoke ? smokeSettings : settings) {
    for (const balancer of balancerNames) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys() forgets the names
      for (const scenario of Object.keys(scenarios) as ScenarioName[]) {
        // oxlint-disable-next-line no-await-in-loop -- only one run can have the timers of the process.
        const found = await simulate(scenario, balancer, setting);
        figures.push(found);
        print(found);
      }
    }
  }
  const picks = await measurePicks(isSmoke ? 1 : pickRounds);
  await keepScale({ scenarios: figures, picks }, isSmoke);
  return true;
};

/** Has one balancer go through one scenario. */
export async function simulate(
  name: ScenarioName,
  balancer: ScenarioFigures['balancer'],
  setting: Setting,
): Promise<ScenarioFigures> {
  const scenario = scenarios[name];
  const seen = await runScenario(scenario, balancer, setting);
  return { setting, scenario: name, balancer, ...figuresOf(seen, scenario, balancer, setting) };
}

function print({
  setting,
  scenario,
  balancer,
  queries,
  p50,
  p99,
  failures,
}: ScenarioFigures): void {
  const what = `${setting.replicas} replicas, ${scenario}, ${balancer}`;
  console.log(
    `  ${what.padEnd(42)} ${queries} queries, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${failures} failed`,
  );
}

import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { ServerBudget } from './server-budget.ts';

/** The budgets of all servers that clients of this process share. */
export class ServerBudgets {
  readonly #clock: Clock;
  readonly #budgets = new Map<string, ServerBudget>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#budgets.size;
  }

  /**
   * Checks that nobody gives a server another number.
   *
   * @throws {ConfigError} when somebody does.
   */
  check(address: string, max: number): void {
    const budget = this.#budgets.get(address);
    if (budget === undefined || budget.max === max || !budget.hasMembers) return;
    throw new ConfigError(
      'rwSplit.maxPerServer',
      `rwSplit.maxPerServer is ${max}, but another client of this process gives ${address} ${budget.max}; give one server one number.`,
    );
  }

  /**
   * The budget of a server, which is kept for as long as somebody takes part in it.
   *
   * @throws {ConfigError} when somebody gives the server another number.
   */
  of(address: string, max: number): ServerBudget {
    this.check(address, max);
    const known = this.#budgets.get(address);
    if (known !== undefined) {
      known.max = max;
      return known;
    }
    const budget = new ServerBudget(address, max, this.#clock, () => {
      if (this.#budgets.get(address) === budget) this.#budgets.delete(address);
    });
    this.#budgets.set(address, budget);
    return budget;
  }
}

const ofAll = new ServerBudgets();
const ofRegistries = new WeakMap<object, ServerBudgets>();

/** The budgets that clients with the same `pools` share: those of the process, or of a registry. */
export function serverBudgets(pools: string | object | undefined): ServerBudgets {
  if (typeof pools !== 'object') return ofAll;
  const known = ofRegistries.get(pools);
  if (known !== undefined) return known;
  const made = new ServerBudgets();
  ofRegistries.set(pools, made);
  return made;
}

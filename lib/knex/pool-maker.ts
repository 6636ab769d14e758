import { systemClock } from '../clock.ts';
import { environmentDefaults, serverAddress } from '../config/host-key.ts';
import type { HostSettings, RWSplitSettings } from '../config/settings.ts';
import { BudgetedPool } from '../hosts/budgeted-pool.ts';
import type { Connection } from '../hosts/host.ts';
import { HostPool } from '../hosts/pool.ts';
import type { PoolSettings } from '../hosts/pool-settings.ts';
import type { ServerBudgets } from '../hosts/server-budgets.ts';
import { serverBudgets } from '../hosts/server-budgets.ts';
import type { CancellingDriver } from './cancel-request.ts';
import { cancelRunning, cancelUnread } from './cancel-running.ts';

/** Makes the pools of a client: each in the budget of its server, where that has one. */
export class PoolMaker {
  readonly #max: number | undefined;
  readonly #budgets: ServerBudgets;
  readonly #driver: CancellingDriver;

  /** @throws {ConfigError} when another client gives one of the servers another `maxPerServer`. */
  constructor(settings: RWSplitSettings, driver: CancellingDriver) {
    const { maxPerServer, pools, primary, replicas } = settings;
    this.#max = maxPerServer;
    this.#driver = driver;
    this.#budgets = serverBudgets(pools);
    this.check(typeof replicas === 'function' ? [primary] : [primary, ...replicas]);
  }

  /**
   * Checks all hosts of a list before the first one takes part.
   *
   * @throws {ConfigError} when another client gives one of the servers another `maxPerServer`.
   */
  check(hosts: readonly HostSettings[]): void {
    if (this.#max === undefined) return;
    for (const host of hosts) this.#budgets.check(addressOf(host), this.#max);
  }

  /**
   * Makes the pool of a host; opens nothing.
   *
   * @param isReachable whether the host would take a request to cancel.
   */
  make(
    host: HostSettings,
    settings: PoolSettings<Connection>,
    isReachable: () => boolean,
  ): HostPool<Connection> {
    if (this.#max === undefined) return new HostPool(settings, systemClock);

    const address = addressOf(host);
    const budget = this.#budgets.of(address, this.#max);
    const destroy = async (connection: Connection): Promise<void> => {
      await cancelRunning(this.#driver, connection);
      await settings.destroy(connection);
    };
    const cancel = async (connection: Connection): Promise<void> => {
      if (isReachable()) await cancelUnread(this.#driver, connection);
    };
    const label = host.key?.slice(address.length + 1) ?? host.name;
    return new BudgetedPool({ ...settings, destroy, cancel }, systemClock, budget, label);
  }
}

function addressOf({ name, connection }: HostSettings): string {
  // The configuration refuses what only a function knows.
  if (typeof connection === 'function') return name;
  return serverAddress(connection, environmentDefaults(process.env));
}

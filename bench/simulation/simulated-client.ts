import type { Balancer } from '../../lib/balancers/balancer.ts';
import { asError } from '../../lib/errors.ts';
import { RWSplitEmitter } from '../../lib/events.ts';
import { Cluster } from '../../lib/hosts/cluster.ts';
import type { Host } from '../../lib/hosts/host.ts';
import { Monitor } from '../../lib/monitor/monitor.ts';
import { Dispatcher } from '../../lib/routing/dispatcher.ts';
import { noteEvidence } from '../../lib/routing/evidence.ts';
import { judgeStatementError } from '../../lib/routing/failure.ts';
import type { Lease } from '../../lib/routing/lease.ts';
import { LockKeeper } from '../../lib/routing/lock-keeper.ts';
import { planRerun } from '../../lib/routing/rerun.ts';
import { SessionChanges } from '../../lib/routing/session-changes.ts';
import { SessionStates } from '../../lib/state/session-states.ts';
import { healthSettings as health } from '../../test/support/hosts.ts';
import { hostMaker } from './host-maker.ts';
import { SimulatedConnection } from './simulated-connection.ts';
import { simulatedProbe } from './simulated-probe.ts';
import type { SimulatedFleet } from './simulated-fleet.ts';
import type { VirtualTime } from './virtual-time.ts';

const read = { intent: 'read', proved: true, reason: 'only reads' } as const;

// Knex's own: how long a query may wait for a connection.
const ACQUIRE_MILLIS = 60_000;

/** One process of an application: the library's own router, pools and monitor before simulated servers. */
export class SimulatedClient {
  readonly #fleet: SimulatedFleet;
  readonly #time: VirtualTime;
  readonly #cluster: Cluster;
  readonly #monitor: Monitor;
  readonly #dispatcher: Dispatcher;
  readonly #sessionChanges: SessionChanges = new SessionChanges(() => undefined);

  constructor(fleet: SimulatedFleet, balancer: Balancer, time: VirtualTime, random: () => number) {
    this.#fleet = fleet;
    this.#time = time;
    const [primary, ...replicas] = fleet.settings;
    if (primary === undefined) throw new Error('A fleet has a primary.');
    this.#cluster = new Cluster({
      primary,
      replicas,
      primaryReads: false,
      hasRoles: true,
      maxLag: { millis: 60_000, bytes: undefined },
      health,
      events: new RWSplitEmitter(),
      clock: time,
      make: hostMaker(fleet, time),
    });
    this.#monitor = new Monitor({
      cluster: this.#cluster,
      settings: health,
      needsPrimary: true,
      clock: time,
      random,
      outside: (fn) => fn(),
      dialer: ({ name }) => simulatedProbe(fleet.server(name), fleet.roleOf(name)),
    });
    this.#dispatcher = new Dispatcher({
      cluster: this.#cluster,
      balancer,
      policy: { target: 'split', fallback: 'primary', fallbackShare: 0.5 },
      clock: time,
      locks: new LockKeeper({
        max: 1,
        holdsLocks: async () => false,
        isReusable: () => true,
        warn: () => undefined,
        clock: time,
        waitMillis: 50,
      }),
      sessionChanges: this.#sessionChanges,
      states: new SessionStates(),
      onCatalogChange: () => undefined,
      acquireMillis: ACQUIRE_MILLIS,
      failoverMillis: 10_000,
    });
  }

  /** Begins to watch the servers. */
  start(): void {
    this.#monitor.start();
  }

  /** Ends what watches them. */
  stop(): void {
    this.#monitor.destroy();
  }

  /** Runs a read, elsewhere again where a host fails it; rejects where that comes to nothing. */
  async read(): Promise<void> {
    const lease = await this.#dispatcher.lease(read);
    lease.mayRetry = true;
    const deadline = this.#time.now() + lease.acquireMillisLeft;
    while (!(await this.#hasRun(lease))) {
      this.#dispatcher.letGo(lease);
      const left = deadline - this.#time.now();
      // oxlint-disable-next-line no-await-in-loop -- one attempt follows the other.
      this.#dispatcher.move(
        lease,
        await this.#dispatcher.acquire(read, left, undefined, lease.tried),
      );
    }
    void lease.release();
  }

  async #hasRun(lease: Lease): Promise<boolean> {
    const { host, connection } = lease;
    if (!(connection instanceof SimulatedConnection)) throw new Error('Not of this fleet.');
    try {
      await this.#fleet.server(host.name).query(connection);
      return true;
    } catch (error) {
      this.#noteFailure(lease, host, asError(error));
      return false;
    }
  }

  #noteFailure(lease: Lease, host: Host, error: Error): void {
    const failure = judgeStatementError(error, lease.hostRole);
    if (failure.isConnectionLost) this.#sessionChanges.spoil(lease.connection);
    noteEvidence(this.#cluster, host, failure.host, error);
    (lease.attempts ??= []).push({
      host: host.name,
      role: host.role,
      code: undefined,
      message: error.message,
    });
    if (planRerun(lease, failure) === undefined) {
      void lease.release();
      throw error;
    }
    (lease.tried ??= new Set()).add(host);
  }
}

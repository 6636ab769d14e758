import type { Clock } from '../clock.ts';
import type { BudgetMember } from './budget-member.ts';
import { noteBudget, noteShortage } from './budget-shortage.ts';
import { HostPool } from './pool.ts';
import type { PoolSettings } from './pool-settings.ts';
import { PoolSlots } from './pool-slots.ts';
import type { ServerBudget } from './server-budget.ts';
import { TURN_MILLIS } from './server-budget.ts';
import type { ServerSlot } from './server-slot.ts';
import { isPoolTimeout } from './tarn-pool.ts';

/** As {@link PoolSettings}, of a pool whose connections count. */
export interface BudgetedPoolSettings<C> extends PoolSettings<C> {
  /** Ends what runs on a connection that is about to be severed: its server would go on with it. */
  readonly cancel?: ((connection: C) => Promise<void>) | undefined;
}

/** A pool whose connections count against the budget of its server. */
export class BudgetedPool<C extends object> extends HostPool<C> implements BudgetMember {
  readonly label: string;
  readonly #budget: ServerBudget;
  readonly #clock: Clock;
  readonly #slots: PoolSlots<C>;
  readonly #cancel: ((connection: C) => Promise<void>) | undefined;
  readonly #since = new WeakMap<object, number>();
  /** Acquires whose connection could not be opened, which is no lack of places. */
  readonly #undialled = new WeakSet<object>();
  #asked = 0;

  /** @param label what the connections are for, in the words of an error. */
  constructor(
    { cancel, ...settings }: BudgetedPoolSettings<C>,
    clock: Clock,
    budget: ServerBudget,
    label: string,
  ) {
    const slots = new PoolSlots(settings, clock);
    const create = (): Promise<C> => slots.create();
    const destroy = (connection: C): Promise<void> => slots.destroy(connection);
    super({ ...settings, create, destroy }, clock);
    this.label = label;
    this.#budget = budget;
    this.#clock = clock;
    this.#slots = slots;
    this.#cancel = cancel;
    this.gate.onOpen = () => budget.serve();
    this.on('createFail', () => {
      // tarn tells the first of them.
      const [first] = this.pendingAcquires;
      if (first !== undefined) this.#undialled.add(first);
    });
    this.on('acquireFail', (_: number, error: Error) => this.#noteFailure(error));
    noteBudget(this, budget);
    budget.join(this);
  }

  get demand(): number {
    const { pendingAcquires, pendingCreates, used, free, gate } = this;
    if (this.#asked === 0 || this.destroyed || !gate.isOpen) return 0;
    const opening = pendingCreates.length;
    const lacking = Math.min(pendingAcquires.length, this.maximum - used.length) - opening;
    // tarn asks once for each acquire, and whenever there may be room.
    this.#asked = Math.min(this.#asked, Math.max(0, lacking));
    return free.length > 0 ? 0 : this.#asked;
  }

  get demandSince(): number {
    return this.#sinceOf(this.pendingAcquires[this.pendingCreates.length]);
  }

  get waitsSince(): number {
    return this.#sinceOf(this.pendingAcquires[0]);
  }

  get idleSince(): number | undefined {
    const longest = this.#longestIdle();
    if (longest === undefined) return undefined;
    return this.#clock.now() - Math.max(0, Date.now() - longest.timestamp);
  }

  open(slot: ServerSlot): void {
    this.#asked--;
    this.#slots.grant(slot);
    super._doCreate();
    this.#sinceOf(this.pendingCreates.at(-1));
  }

  endIdle(): void {
    const longest = this.#longestIdle();
    if (longest === undefined) return;
    this.free.splice(this.free.indexOf(longest), 1);
    longest.settle();
    void this.end(longest.resource);
  }

  override hasRoom(): boolean {
    if (!super.hasRoom()) return false;
    return this.free.length > this.pendingAcquires.length || this.#budget.hasRoom;
  }

  override acquire(): ReturnType<HostPool<C>['acquire']> {
    const pending = super.acquire();
    this.#sinceOf(pending);
    return pending;
  }

  override release(connection: C): boolean {
    if (this.isUsing(connection) && this.#budget.isOwed(this)) {
      this._executeEventHandlers('release', connection);
      void this.discard(connection);
      return true;
    }
    return super.release(connection);
  }

  override async destroyWithin(
    ...[millis, clock, sever]: Parameters<HostPool<C>['destroyWithin']>
  ): ReturnType<HostPool<C>['destroyWithin']> {
    // What is idle, or given back meanwhile, is for the others at once.
    this.renew();
    const stopWaiting = clock.after(millis, () => this.#slots.giveUp());
    try {
      await super.destroyWithin(millis, clock, sever);
    } finally {
      stopWaiting();
      this.#slots.giveUp();
      this.#budget.leave(this);
    }
  }

  override async takeAway(connection: C, sever: (connection: C) => void): Promise<void> {
    // Given back meanwhile, it would be another's.
    const isOwn = this.detach(connection) !== undefined;
    await this.#cancel?.(connection);
    sever(connection);
    if (isOwn) await this.end(connection);
  }

  // A place comes first: what tarn counts as being opened is being dialled.
  override _doCreate(): void {
    this.#asked++;
    this.#budget.serve();
  }

  override _destroy(connection: C): ReturnType<HostPool<C>['_destroy']> {
    this.#slots.closing(connection);
    return super._destroy(connection);
  }

  #longestIdle(): HostPool<C>['free'][number] | undefined {
    if (this.destroyed) return undefined;
    let longest: HostPool<C>['free'][number] | undefined;
    for (const idle of this.free) {
      // One that the server has closed holds no place.
      if (!this.#slots.has(idle.resource)) continue;
      if (longest === undefined || idle.timestamp < longest.timestamp) longest = idle;
    }
    return longest;
  }

  #sinceOf(pending: object | undefined): number {
    if (pending === undefined) return Number.POSITIVE_INFINITY;
    const since = this.#since.get(pending) ?? this.#clock.now();
    this.#since.set(pending, since);
    return since;
  }

  #noteFailure(error: Error): void {
    const failed = this.pendingAcquires.findIndex(({ isRejected }) => isRejected);
    const pending = this.pendingAcquires[failed];
    if (pending === undefined || !isPoolTimeout(error) || this.#undialled.has(pending)) return;
    const dial = this.pendingCreates[failed];
    // Who had to wait for the place has left the server too little time to answer.
    const isShort =
      dial === undefined
        ? this.#lacksPlace()
        : this.#sinceOf(dial) - this.#sinceOf(pending) >= TURN_MILLIS;
    if (isShort) noteShortage(error, this.#budget);
  }

  #lacksPlace(): boolean {
    const isFull = this.used.length + this.pendingCreates.length >= this.maximum;
    return !isFull && this.gate.isOpen && this.#budget.isUsedUp;
  }
}

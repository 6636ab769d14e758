import type { RWSplitSettings } from '../config/settings.ts';
import type { FallbackShare } from '../routing/fallback-share.ts';
import { fallbackShareOf } from '../routing/fallback-share.ts';
import { systemClock } from '../clock.ts';
import { ClusterPools } from './cluster-pools.ts';
import type { KnexClasses, PgClient } from './internals.ts';
import { Membership } from './membership.ts';
import { needsPrimary } from './needs-primary.ts';
import type { SharedDispatcher } from './shared-dispatcher.ts';
import { sharedClient } from './shared-client.ts';
import { SharedEvents } from './shared-events.ts';
import type { SplitState } from './split-state.ts';

/** Pools of a cluster that several clients share: they close with the last one. */
export class SharedPools {
  readonly pools: ClusterPools;
  /** What fallback reads of all clients may hold together. */
  readonly share: FallbackShare;
  readonly #onClosing: () => void;
  readonly #client: PgClient;
  #members: readonly Membership[] = [];
  /** Clients that are destroyed and still hold connections. */
  readonly #leaving = new Set<Membership>();
  #isStateUsed = false;

  /** @param onClosing told as the last client leaves, before the pools are closed. */
  constructor(
    first: PgClient,
    settings: RWSplitSettings,
    classes: Pick<KnexClasses, 'PgDialect'>,
    onClosing: () => void,
  ) {
    this.#onClosing = onClosing;
    this.#client = sharedClient(first, () => this.#members.map(({ client }) => client));
    this.pools = new ClusterPools({
      client: this.#client,
      settings,
      events: new SharedEvents(() => this.#members.map(({ state }) => state.events)),
      classes,
      needsPrimary: () => this.#members.some((member) => needsPrimary(member.settings)),
    });
    this.share = fallbackShareOf(this.pools.cluster, settings.fallbackShare, systemClock);
  }

  /** What gives the clients their connections, and takes them back. */
  get dispatchers(): readonly SharedDispatcher[] {
    return [...this.#members, ...this.#leaving].flatMap(({ dispatcher }) => dispatcher ?? []);
  }

  /** Takes a client in. */
  add(client: PgClient, state: SplitState, settings: RWSplitSettings): Membership {
    const member = new Membership(this, client, state, settings);
    const { states } = state;
    this.#members = [...this.#members, member];
    states.onUse = () => this.#useStates();
    if (states.isUsed || this.#isStateUsed) this.#useStates();
    this.#welcome(member);
    return member;
  }

  /** Takes a client out; true where it was the last one. */
  remove(member: Membership): boolean {
    this.#members = this.#members.filter((other) => other !== member);
    this.#leaving.add(member);
    const isLast = this.#members.length === 0;
    if (isLast) this.#onClosing();
    return isLast;
  }

  /** Forgets a client that has given everything back. */
  forget(member: Membership): void {
    this.#leaving.delete(member);
  }

  // A connection may come from a client that has changed its session.
  #useStates(): void {
    const isFirst = !this.#isStateUsed;
    this.#isStateUsed = true;
    for (const { state } of this.#members) state.states.use();
    const [any] = this.#members;
    if (isFirst && any !== undefined) this.pools.renew(any.state.states);
  }

  #welcome({ client, settings }: Membership): void {
    const { version, connectionSettings } = this.#client;
    if (version !== undefined && client.version === undefined) client.version = version;
    const isFunction = typeof settings.primary.connection === 'function';
    if (isFunction && connectionSettings) client.connectionSettings = connectionSettings;
  }
}

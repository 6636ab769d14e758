import { inspect } from 'util';
import { systemClock } from '../clock.ts';
import type { RWSplitSettings } from '../config/settings.ts';
import { Session } from '../consistency/session.ts';
import { RWSplitEmitter } from '../events.ts';
import { SessionStates } from '../state/session-states.ts';
import { wantedOrNothing } from './wanted.ts';
import type { KnexClasses, PgClient } from './internals.ts';
import type { RWSplit } from './rw-split.ts';

const STATE: unique symbol = Symbol('knex-rwsplit.state');

/**
 * What a splitting client keeps on its `config`.
 *
 * There, and not on the client: Knex derives the clients of transactions and clones without
 * running a constructor, but they share or copy the config, symbols included.
 */
export class SplitState {
  // Private, so that no printed config shows the credentials of the settings.
  readonly #settings: RWSplitSettings;
  readonly events: RWSplitEmitter = new RWSplitEmitter();
  /** What is written outside of any session of its own. */
  readonly session: Session;
  readonly states: SessionStates;
  #split: RWSplit | undefined;

  /** The copy of Knex that the client is of. */
  readonly makeKnex: KnexClasses['makeKnex'];

  constructor(settings: RWSplitSettings, { makeKnex }: Pick<KnexClasses, 'makeKnex'>) {
    this.#settings = settings;
    this.makeKnex = makeKnex;
    this.states = new SessionStates(wantedOrNothing(settings));
    this.session = new Session({ ...settings.consistency, isStrict: true }, systemClock.now());
  }

  get settings(): RWSplitSettings {
    return this.#settings;
  }

  /** Undefined before the pools are made and after they are destroyed. */
  get split(): RWSplit | undefined {
    return this.#split;
  }

  set split(split: RWSplit | undefined) {
    this.#split = split;
  }

  /** What `util.inspect` shows. */
  toString(): string {
    const hosts = this.#split?.cluster.hosts.map((host) => host.name) ?? [];
    return `SplitState { hosts: [ ${hosts.join(', ')} ] }`;
  }
}

// A computed name in the class would need its type spelled out.
Object.defineProperty(SplitState.prototype, inspect.custom, {
  value(this: SplitState) {
    return this.toString();
  },
});

/** A Knex config that may carry our state. */
export interface StatefulConfig {
  [STATE]?: SplitState | undefined;
}

/** Copies a config with a state of its own, in place of one that came in with it. */
export function withState<C extends object>(config: C, state: SplitState | undefined): C {
  if (state === undefined && !(STATE in config)) return config;
  return { ...config, [STATE]: state };
}

/** The state of a client, its transactions and clones; undefined where it doesn't split. */
export function stateOf(client: PgClient): SplitState | undefined {
  return (client.config as StatefulConfig)[STATE];
}

/** What splits the statements of a client; undefined where nothing does, or after `destroy()`. */
export function splitOf(client: PgClient): RWSplit | undefined {
  return (client.config as StatefulConfig)[STATE]?.split;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { History, HistoryEvent } from './history.ts';
import type { Step, Turn, TurnResult } from './history-turn.ts';

/** What {@link startHistory} does. */
export interface HistoryLoadOptions {
  /** The processes between which sessions go to and fro, with their tokens. */
  readonly places: readonly ((turn: Turn) => Promise<TurnResult>)[];
  readonly sessions: number;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Told apart from every other load on the same database. */
  readonly name: string;
}

/** Sessions at work. */
export interface HistoryLoad {
  /** What happened so far. */
  readonly events: History;
  /** Lets every session end its turn. */
  stop(): Promise<History>;
}

const mostSteps = 6;
const mostPauseMillis = 20;
// A key is left for good before reading it takes long.
const keyMillis = 1000;
const keys = 4;

/** Lets concurrent sessions write, read and run transactions on common keys; every other one is monotonic. */
export function startHistory({ places, sessions, random, name }: HistoryLoadOptions): HistoryLoad {
  const events: HistoryEvent[] = [];
  const over = new AbortController();
  let versions = 0;

  const any = <T>(choices: readonly T[]): T => {
    const choice = choices[Math.floor(random() * choices.length)];
    if (choice === undefined) throw new Error('There is nothing to choose from.');
    return choice;
  };
  const randomKey = (): string =>
    `${name} ${Math.floor(performance.now() / keyMillis)} ${Math.floor(random() * keys)}`;
  const write = (key: string): Step & { kind: 'write' } => {
    return { kind: 'write', key, version: `${name} ${versions++}` };
  };
  const plan = (own: string): Step => {
    const key = any([own, randomKey()]);
    const chance = random();
    if (chance < 0.35) return write(own);
    if (chance < 0.8) return { kind: 'read', key };
    return {
      kind: 'transaction',
      steps: [write(own), { kind: 'read', key }, write(randomKey()), write(own)],
      isRolledBack: chance > 0.95,
    };
  };

  const live = async (session: string, isMonotonic: boolean): Promise<void> => {
    let after: string | undefined;
    while (!over.signal.aborted) {
      const own = randomKey();
      const steps = Array.from({ length: 1 + Math.floor(random() * mostSteps) }, () => plan(own));
      const result = await any(places)({ session, isMonotonic, after, steps });
      events.push(...result.events);
      after = result.token;
      await sleep(random() * mostPauseMillis);
    }
  };
  const done = Promise.all(
    Array.from({ length: sessions }, (_, n) => live(`${name} ${n}`, n % 2 === 1)),
  );
  done.catch(() => undefined);

  return {
    events,
    async stop() {
      over.abort();
      await done;
      return events;
    },
  };
}

import type { ErrorRoute } from 'knex-rwsplit';

/** What a task of the shop may do to what is stored, and so what may become of it. */
export type TaskKind = 'read' | 'long read' | 'write' | 'transaction';

/** A task that failed. */
export interface FailedTask {
  readonly kind: TaskKind;
  /** When it began and when it failed, in milliseconds since 1970. */
  readonly begunAt: number;
  readonly failedAt: number;
  readonly error: RoutedError;
}

/** An error with what the library says of where its statement ran. */
export interface RoutedError extends Error {
  readonly code?: string;
  readonly rwSplit?: ErrorRoute;
}

/** What the program itself saw: which tasks were done, and which failed. */
export class Books {
  readonly failed: FailedTask[] = [];
  /** The references of all orders of which the database said that they are stored. */
  readonly orders: string[] = [];
  readonly #doneAt: Record<TaskKind, number[]> = {
    read: [],
    'long read': [],
    write: [],
    transaction: [],
  };

  /** Enters what becomes of a task; never rejects. */
  async enter(kind: TaskKind, task: () => PromiseLike<unknown>): Promise<void> {
    const begunAt = Date.now();
    try {
      const answer = await task();
      this.#doneAt[kind].push(Date.now());
      if (typeof answer === 'string') this.orders.push(answer);
    } catch (error) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only errors are thrown here
      this.failed.push({ kind, begunAt, failedAt: Date.now(), error: error as RoutedError });
    }
  }

  /** How many tasks of a kind were done, from one moment to another. */
  done(kind: TaskKind, from = 0, to: number = Number.POSITIVE_INFINITY): number {
    return this.#doneAt[kind].filter((at) => at >= from && at <= to).length;
  }

  /** When something was first written after a moment. */
  firstWrite(after: number): number {
    const all = [...this.#doneAt.write, ...this.#doneAt.transaction];
    return Math.min(...all.filter((at) => at > after));
  }
}

import type { Answer } from '../consistency/questions.ts';

/** What is asked beside a statement, on its connection. */
export interface Beside {
  /** The text of the statement, as it reaches the driver. */
  readonly text: string;
  /** Asked before the statement. */
  readonly before?: string | undefined;
  /** Asked behind the statement. */
  readonly behind?: string | undefined;
  /** Whether all may be on their way at once; false for what keeps a portal, or copies. */
  readonly canShare: boolean;
  /** Whether the connection is still in use by the statement; a stream can be given up. */
  readonly isOurs?: (() => boolean) | undefined;
  /** Whether the statement is worth sending, or waiting for, after the answer to `before`. */
  readonly mayGoOn?: ((answer: Answer | undefined) => boolean) | undefined;
}

/** What a server answered to a statement and to what was asked beside it. */
export interface Piped<T> {
  /** Undefined where it was not asked, or not answered. */
  readonly before: Answer | undefined;
  /** Undefined where the statement was not sent, or is not worth waiting for. */
  readonly result: PromiseSettledResult<T> | undefined;
  readonly behind: Answer | undefined;
  /** Why a question was not answered. */
  readonly refusal: unknown;
  /** Something is still to be answered: the connection must be used for nothing else. */
  readonly isBusy: boolean;
}

/** How {@link RWSplitHandle.drain} waits. */
export interface DrainOptions {
  /**
   * How long to wait for what runs on the host, in milliseconds; 0 does not wait.
   *
   * @default 30_000
   */
  readonly timeoutMillis?: number | undefined;
}

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Query } from './subjects/subject.ts';
import { quantileOf } from './quantile.ts';

/** What a query needed, once, in a time of load. */
export interface Sample {
  readonly perSecond: number;
  /** Processor time of this process for one query. */
  readonly cpuMicros: number;
  readonly p50Millis: number;
  readonly p99Millis: number;
  /** How late the event loop was, at most in 99 of 100 milliseconds. */
  readonly loopDelayMillis: number;
}

/** How {@link applyLoad} loads. */
export interface Load {
  readonly concurrency: number;
  /** How long queries are begun; those that run then are waited for. */
  readonly millis: number;
  /** The rows that each query has to bring. */
  readonly rows: number;
}

const resolutionMillis = 1;
const longestMillis = 60_000;
const loopDelay = monitorEventLoopDelay({ resolution: resolutionMillis });
let number = 0;

/**
 * Runs a query again and again, so many at once.
 *
 * @throws {Error} when a query brings other rows than it has to, or nothing comes any more.
 */
export async function applyLoad(
  query: Query,
  { concurrency, millis, rows }: Load,
): Promise<Sample> {
  const latencies: number[] = [];
  const begin = performance.now();
  const worker = async (): Promise<void> => {
    do {
      const from = performance.now();
      const count = await query(number++);
      latencies.push(performance.now() - from);
      if (count !== rows) throw new Error(`A query brought ${count} rows and not ${rows}.`);
    } while (performance.now() - begin < millis);
  };

  // Or the time since the last load would count as one delay.
  loopDelay.reset();
  loopDelay.enable();
  const cpuBegin = process.cpuUsage();
  await inTime(Promise.all(Array.from({ length: concurrency }, worker)));
  const { user, system } = process.cpuUsage(cpuBegin);
  const elapsed = performance.now() - begin;
  loopDelay.disable();

  return {
    perSecond: (latencies.length / elapsed) * 1000,
    cpuMicros: (user + system) / latencies.length,
    p50Millis: quantileOf(latencies, 0.5),
    p99Millis: quantileOf(latencies, 0.99),
    loopDelayMillis: Math.max(0, loopDelay.percentile(99) / 1e6 - resolutionMillis),
  };
}

async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `Queries did not end within ${longestMillis} ms.`;
    timer = setTimeout(() => reject(new Error(message)), longestMillis);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

import { collectGarbage } from './collect-garbage.ts';
import type { Bench } from './bench-run.ts';
import { atMost, reportChecks } from './results/check.ts';
import { placeOf } from './results/place.ts';
import type { MemoryFigure } from './results/section.ts';
import { ownDatabase } from './subjects/knex-subjects.ts';

const concurrency = 20;
const allowedGrowth = 10;

/** Measures what a million texts that never come again leave behind. */
export const benchMemory: Bench = async ({ isSmoke, cluster, keep }) => {
  const servers = await cluster();
  const total = isSmoke ? 2000 : 1_000_000;
  const db = await ownDatabase(servers, { consistency: 'session' });
  let number = 0;
  const until = async (limit: number): Promise<void> => {
    const worker = async (): Promise<void> => {
      while (number < limit) await db.raw(`select ${number++} as number, ? as more`, ['x']);
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  };

  console.log(
    '\nMemory in use, in MB, after so many distinct texts: heap, outside of it, resident',
  );
  const figures: MemoryFigure[] = [];
  for (const part of [0.1, 0.25, 0.5, 1]) {
    await until(total * part);
    collectGarbage();
    const { heapUsed, external, rss } = process.memoryUsage();
    const figure = {
      statements: number,
      heapBytes: heapUsed,
      externalBytes: external,
      residentBytes: rss,
    };
    figures.push(figure);
    const bytes = [heapUsed, external, rss].map((value) => (value / 1e6).toFixed(1).padStart(8));
    console.log(`  ${String(number).padStart(9)} ${bytes.join(' ')}`);
  }
  await db.destroy();

  const inUse = figures.map(({ heapBytes, externalBytes }) => heapBytes + externalBytes);
  const growth = ((inUse.at(-1) ?? Number.NaN) - (inUse[0] ?? Number.NaN)) / 1e6;
  const what = `MB more in use after ${total.toLocaleString('en')} distinct texts than after a tenth of them`;
  const checks = [atMost(allowedGrowth)(what, growth)];
  keep({ memory: { place: await placeOf(servers), figures, checks } });
  return isSmoke || reportChecks(checks);
};

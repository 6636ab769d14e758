import { PrismaPg } from '@prisma/adapter-pg';
import { readReplicas } from '@prisma/extension-read-replicas';
import type { Cluster, TestHost } from '../../lib/testing/index.ts';
import { authorOf, bookOf } from '../subjects/shop.ts';
import { connectionsEach, idleMillis, type Subject } from '../subjects/subject.ts';
import { generatePrisma } from './generate-prisma.ts';

/** Prisma with its extension for replicas. */
export const subject: Subject = {
  name: 'Prisma',
  hosts: 'all',
  open: async (cluster) => {
    await generatePrisma();
    const { PrismaClient } = await import('./dist/client.ts');
    const [primary, ...replicas] = cluster.hosts.map(
      (host) =>
        new PrismaClient({
          adapter: adapterOf(cluster, host),
          // A transaction waits for its connection as long as those of the others do.
          transactionOptions: { maxWait: idleMillis, timeout: idleMillis },
        }),
    );
    if (primary === undefined) throw new Error('There is no primary.');
    const db = primary.$extends(readReplicas({ replicas }));
    return {
      read: async (number) => {
        const book = await db.book.findUnique({ where: { id: bookOf(number) } });
        return book === null ? 0 : 1;
      },
      join: async (number) => {
        const found = await db.book.findMany({
          where: { authorId: authorOf(number) },
          include: { author: true, publisher: true },
          relationLoadStrategy: 'join',
        });
        return found.length;
      },
      insert: async (number) => {
        const loan = await db.loan.create({ data: { bookId: bookOf(number), reader: 'Ada' } });
        return loan.id > 0 ? 1 : 0;
      },
      transaction: async (number) =>
        db.$transaction(async (tx) => {
          const book = await tx.book.findUniqueOrThrow({ where: { id: bookOf(number) } });
          const { id } = await tx.loan.create({ data: { bookId: book.id, reader: 'Ada' } });
          await tx.loan.update({ where: { id }, data: { reader: 'Grace' } });
          const loan = await tx.loan.findUniqueOrThrow({ where: { id } });
          await tx.loan.delete({ where: { id: loan.id } });
          return 5;
        }),
      raw: async (number) => {
        const rows = await db.$queryRaw<
          unknown[]
        >`select title, year from books where author_id = ${authorOf(number)} order by year limit 5`;
        return rows.length;
      },
      stream: undefined,
      close: async () => db.$disconnect(),
    };
  },
};

function adapterOf(cluster: Cluster, host: TestHost): PrismaPg {
  return new PrismaPg({
    ...cluster.connection(host),
    max: connectionsEach,
    idleTimeoutMillis: idleMillis,
  });
}

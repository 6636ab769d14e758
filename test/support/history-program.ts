/**
 * A program that runs the turns it is sent, on the cluster and with the name of its arguments,
 * until it is told no more.
 */
import { openDatabase } from './history-process.ts';
import { runTurn, type Turn } from './history-turn.ts';

const [name = '', config = '{}'] = process.argv.slice(2);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- startHistoryProcess() wrote it
const db = openDatabase(JSON.parse(config) as object);

async function answer(id: number, turn: Turn): Promise<void> {
  process.send?.({ id, ...(await runTurn(db, name, turn)) });
}

process.on('message', ({ id, turn }: { id: number; turn: Turn }) => {
  // What a turn throws is a fault of the test, and ends the program by an uncaught error.
  void answer(id, turn);
});
process.on('disconnect', () => {
  void db.destroy();
});
process.send?.({ id: 0, events: [] });

import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { describe, expect, it } from '@jest/globals';
import { listenHere } from '../../../lib/knex/listen-here.ts';

type Deliver = (error: unknown, rows: readonly unknown[]) => void;

/** Three rows, read by a cursor that answers in the scope of its connection. */
class CursorStream extends Readable {
  readonly cursor: { read: (rows: number, callback: Deliver) => void };

  constructor(answer: (deliver: () => void) => void) {
    super({ objectMode: true, highWaterMark: 3 });
    let rows: readonly number[] = [1, 2, 3];
    this.cursor = {
      read: (_, callback) =>
        answer(() => {
          const found = rows;
          rows = [];
          callback(null, found);
        }),
    };
  }

  override _read(size: number): void {
    this.cursor.read(size, (_, rows) => {
      for (const row of rows) this.push(row);
      if (rows.length === 0) this.push(null);
    });
  }
}

const scope = new AsyncLocalStorage<string>();

function listening(): PassThrough {
  const stream = new PassThrough({ objectMode: true });
  scope.run('caller', () => listenHere(stream));
  return stream;
}

const fromConnection = (deliver: () => void): void =>
  scope.run('connection', () => void setImmediate(deliver));

describe('listenHere', () => {
  it.each([
    ['a cursor', () => new CursorStream(fromConnection)],
    ['anything else', () => Readable.from([1, 2, 3])],
  ])('has listeners run in the scope of the caller, for rows of %s', async (_, open) => {
    const stream = listening();
    const seen: unknown[] = [];
    for (const event of ['data', 'end', 'close']) {
      stream.on(event, () => seen.push([event, scope.getStore()]));
    }

    scope.run('connection', () => open().pipe(stream));
    await finished(stream);

    const data = ['data', 'caller'];
    expect(seen).toEqual([data, data, data, ['end', 'caller'], ['close', 'caller']]);
  });

  it('has listeners of an error run there, which comes between rows', async () => {
    const stream = listening();
    const heard = new Promise((resolve) => {
      stream.on('error', () => resolve(scope.getStore()));
    });

    scope.run('connection', () => stream.emit('error', new Error('lost')));

    expect(await heard).toBe('caller');
  });

  it('puts nothing between a stream and its listeners while rows of a cursor come', async () => {
    const stream = listening();
    const emits: unknown[] = [];
    stream.on('data', () => emits.push(stream.emit));

    new CursorStream(fromConnection).pipe(stream);
    await finished(stream);

    const { emit } = EventEmitter.prototype;
    expect(emits).toEqual([emit, emit, emit]);
    expect(stream.emit).not.toBe(emit);
  });

  it('leaves what somebody else has put there', async () => {
    const stream = listening();
    const emits: unknown[] = [];
    const others = stream.emit.bind(stream);
    stream.emit = others;
    stream.on('data', () => emits.push(stream.emit));

    new CursorStream(fromConnection).pipe(stream);
    await finished(stream);

    expect(emits).toEqual([others, others, others]);
    expect(stream.emit).toBe(others);
  });
});

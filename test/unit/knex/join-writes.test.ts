import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { joinWrites } from '../../../lib/knex/join-writes.ts';

function sink(): { readonly stream: Writable; readonly received: string[] } {
  const received: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      received.push(String(chunk));
      done();
    },
    writev(chunks, done) {
      received.push(chunks.map(({ chunk }) => String(chunk)).join('+'));
      done();
    },
  });
  joinWrites(stream);
  return { stream, received };
}

describe('joinWrites', () => {
  it('sends what is written while the stream is corked as one buffer', () => {
    const { stream, received } = sink();

    stream.cork();
    stream.write(Buffer.from('parse '));
    stream.write(Buffer.from('bind '));
    stream.write(Buffer.from('sync'));
    expect(received).toEqual([]);
    stream.uncork();

    expect(received).toEqual(['parse bind sync']);
  });

  it('sends at once what is written while it is not', () => {
    const { stream, received } = sink();

    stream.write(Buffer.from('query'));
    stream.write('text');

    expect(received).toEqual(['query', 'text']);
  });

  it('waits for the last of several uncorks', () => {
    const { stream, received } = sink();

    stream.cork();
    stream.write(Buffer.from('outer '));
    stream.cork();
    stream.write(Buffer.from('inner'));
    stream.uncork();
    expect(received).toEqual([]);
    stream.uncork();
    stream.uncork();
    stream.write(Buffer.from('after'));

    expect(received).toEqual(['outer inner', 'after']);
  });

  it('keeps the order where something is written in another way', async () => {
    const { stream, received } = sink();

    stream.cork();
    stream.write(Buffer.from('first '));
    const written = new Promise<void>((resolve) => {
      stream.write(Buffer.from('with a callback '), () => resolve());
    });
    stream.write(Buffer.from('last'));
    stream.uncork();
    await written;

    expect(received.join('')).toBe('first with a callback last');
  });

  it('copies nothing that is large', () => {
    const { stream, received } = sink();
    const large = Buffer.alloc(100_000, 'x');

    for (let turn = 0; turn < 2; turn++) {
      stream.cork();
      stream.write(Buffer.from('parse '));
      stream.write(large);
      stream.uncork();
    }
    stream.cork();
    stream.write(Buffer.from('small '));
    stream.write(Buffer.from('again'));
    stream.uncork();

    expect(received).toHaveLength(3);
    expect(received[0]).toBe(`parse +${String(large)}`);
    expect(received[2]).toBe('small again');
  });

  it('sends nothing where nothing was written', () => {
    const { stream, received } = sink();

    stream.cork();
    stream.uncork();

    expect(received).toEqual([]);
  });

  it('leaves a stream alone that knows no corks', () => {
    const stream = { write: () => true };
    const { write } = stream;

    joinWrites(stream);

    expect(stream).toEqual({ write });
  });
});

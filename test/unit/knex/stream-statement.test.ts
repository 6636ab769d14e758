import { EventEmitter } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { intoStream } from '../../../lib/knex/stream-statement.ts';
import { Lease } from '../../../lib/routing/lease.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { hostSettings, makeHost } from '../../support/hosts.ts';
import { makeRoute } from '../../support/route.ts';

const { emit } = EventEmitter.prototype;
const refusal = Object.assign(new Error('read-only'), { code: '25006', severity: 'ERROR' });

function readOnReplica(): Lease {
  const host = makeHost(hostSettings('a'), 'replica');
  const lease = new Lease(makeRoute({}), host, {}, new FakeClock(), () => undefined);
  lease.request = { intent: 'read', proved: true, reason: '' };
  return Object.assign(lease, { mayRerun: true, mayRetry: true });
}

/** Has a read stream some rows, and then fail, as Knex tells of it. */
function failAfter(rows: readonly number[], isTold = true): Promise<unknown[]> {
  const stream = new PassThrough({ objectMode: true });
  const events: unknown[] = [];
  stream.on('data', (row) => events.push(row));
  stream.on('error', ({ message }: Error) => events.push(message));
  const run = async (): Promise<void> => {
    const source = Readable.from(rows);
    source.pipe(stream, { end: false });
    await new Promise((resolve) => source.once('end', resolve));
    if (isTold) stream.emit('error', refusal);
    throw refusal;
  };
  const failed = intoStream(readOnReplica(), stream, run);
  return failed.then(
    () => events,
    ({ message }: Error) => [...events, `rejected: ${message}`],
  );
}

describe('intoStream', () => {
  it.each([
    ['tells at its end of an error that another host might have made good', [], true],
    ['tells at once of an error that comes behind rows', [1, 2], true],
    ['tells of an error that Knex has told nobody of, without rows', [], false],
    ['tells of an error that Knex has told nobody of, behind rows', [1, 2], false],
  ])('%s, and once', async (_, rows, isTold) => {
    const events = await failAfter(rows, isTold);

    expect(events).toEqual([...rows, 'read-only', 'rejected: read-only']);
  });

  it('says nothing of a refusal that another host makes good', async () => {
    const stream = new PassThrough({ objectMode: true });
    const heard: unknown[] = [];
    stream.on('data', (row) => heard.push(row));
    stream.on('error', (error) => heard.push(error));

    await intoStream(readOnReplica(), stream, async () => {
      const refused = new Readable({ objectMode: true, read: () => undefined });
      refused.pipe(stream);
      stream.emit('error', refusal);
      const source = Readable.from([1]);
      source.pipe(stream);
      await new Promise((resolve) => source.once('end', resolve));
    });

    expect(heard).toEqual([1]);
  });

  it('puts nothing between a stream and its listeners behind the first row', async () => {
    const stream = new PassThrough({ objectMode: true });
    const emits: unknown[] = [];
    stream.on('data', () => emits.push(stream.emit));

    const streamed = intoStream(readOnReplica(), stream, async () => {
      const source = Readable.from([1, 2, 3]);
      source.pipe(stream);
      await new Promise((resolve) => source.once('end', resolve));
    });

    expect(stream.emit).not.toBe(emit);
    await streamed;
    expect(emits.slice(1)).toEqual([emit, emit]);
    expect(stream.eventNames()).not.toContain(EventEmitter.errorMonitor);
  });
});

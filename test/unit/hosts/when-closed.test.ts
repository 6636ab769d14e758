import { EventEmitter } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import { whenClosed } from '../../../lib/hosts/when-closed.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const reset = Object.assign(new Error('read ECONNRESET'), { syscall: 'read' });

describe('whenClosed', () => {
  it.each([
    ['the server has closed it', { readableEnded: true, errored: null }, 0],
    ['the system has ended it', { readableEnded: false, errored: reset }, 0],
    ['no address answered', { errored: new AggregateError([reset]) }, 0],
    ['there is no socket to look at', undefined, 0],
    ['it was severed', { readableEnded: false, errored: new Error('severed') }, 1000],
    ['it was cut', { readableEnded: false, errored: null }, 1000],
  ])('tells where %s', (_, stream, millis) => {
    const clock = new FakeClock();
    const then = jest.fn<() => void>();
    const client = Object.assign(new EventEmitter(), { connection: { stream } });
    expect(whenClosed(client, clock, 1000, then)).toBe(true);

    client.emit('end');
    expect(then).toHaveBeenCalledTimes(millis === 0 ? 1 : 0);
    clock.advance(millis);

    expect(then).toHaveBeenCalledTimes(1);
  });

  it('says that a driver does not tell', () => {
    expect(whenClosed({}, new FakeClock(), 1000, () => undefined)).toBe(false);
  });
});
